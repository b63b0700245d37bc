//! Markdown as people mean it: line breaks, emphasis beside wide punctuation, bare addresses, formulas. Each case is read whole
//! and letter by letter, with the same outcome.

use std::fs;

use pagehand::markdown::{Block, Inline, MarkdownStream, parse};

use crate::markdown::{grow, letters};
use crate::support::suite;

/// The tree as short text: `<b>`, `<i>`, `<s>`, `<c>` for code, `<a ADDRESS>`, `<br>`; a block a line, `<raw>` before HTML.
fn written(blocks: &[Block]) -> String {
    blocks.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(content) | Block::Plain(content) => inlines(content),
        Block::Heading(level, content) => format!("{} {}", "#".repeat(usize::from(*level)), inlines(content)),
        Block::Code { language, text } => format!("```{language}\n{text}```"),
        Block::List { items, .. } => {
            items.iter().map(|item| format!("- {}", written(&item.blocks))).collect::<Vec<_>>().join("\n")
        }
        Block::Quote(blocks) => format!("> {}", written(blocks)),
        Block::Table { head, rows, .. } => {
            let row = |cells: &Vec<Vec<Inline>>| cells.iter().map(|cell| inlines(cell)).collect::<Vec<_>>().join("|");
            std::iter::once(head).chain(rows).map(row).collect::<Vec<_>>().join("\n")
        }
        Block::Rule => "---".to_owned(),
        Block::Html(html) => format!("<raw>{html}"),
    }
}

fn inlines(content: &[Inline]) -> String {
    let one = |inline: &Inline| match inline {
        Inline::Text(text) => text.clone(),
        Inline::Code(text) => format!("<c>{text}</c>"),
        Inline::Emphasis(content) => format!("<i>{}</i>", inlines(content)),
        Inline::Strong(content) => format!("<b>{}</b>", inlines(content)),
        Inline::Strike(content) => format!("<s>{}</s>", inlines(content)),
        Inline::Link { address, content } => format!("<a {address}>{}</a>", inlines(content)),
        Inline::Image { address, description } => format!("<image {address}>{description}</image>"),
        Inline::Break => "<br>".to_owned(),
    };
    content.iter().map(one).collect()
}

fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        let whole = parse(source);
        assert_eq!(written(&whole), *expected, "{source:?}");
        assert_eq!(grow(letters(source)), whole, "letter by letter: {source:?}");
        for (at, _) in source.char_indices() {
            assert_eq!(grow([&source[..at], &source[at..]].into_iter()), whole, "cut at {at}: {source:?}");
        }
    }
}

/// What is shown while no more than this has come.
fn growing(source: &str) -> String {
    let mut stream = MarkdownStream::default();
    for letter in letters(source) {
        stream.push(letter);
        stream.refresh();
    }
    written(&[stream.frozen(), stream.open()].concat())
}

// ---- line breaks ----

#[test]
fn br_breaks_the_line_wherever_inlines_stand() {
    check(&[
        ("a<br>b", "a<br>b"),
        ("a <BR/> b", "a <br> b"),
        ("a<br />b<Br >c", "a<br>b<br>c"),
        ("a\n<br>\nb", "a<br>b"),
        ("a<br>\nb", "a<br>b"),
        ("**a<br>b**", "<b>a<br>b</b>"),
        ("# a<br>b", "# a<br>b"),
        ("- a<br>b\n- <br>c", "- a<br>b\n- <br>c"),
        ("> a<br>b", "> a<br>b"),
        ("| a<br>b | c |\n|---|---|\n| 1<br/>2<br/>3 | <br> |", "a<br>b|c\n1<br>2<br>3|<br>"),
        ("[a<br>b](x)", "<a x>a<br>b</a>"),
    ]);
}

#[test]
fn a_line_of_nothing_but_br_is_a_break() {
    check(&[
        ("a\n\n<br>\n\nb", "a\n<br>\nb"),
        ("<br>", "<br>"),
        ("<br><br/>\n<BR>\n", "<br><br><br>"),
        ("<br>\n**b**", "<br><b>b</b>"),
        ("> <br>\n> b", "> <br>b"),
        ("- a\n\n  <br>\n\n  b", "- a\n<br>\nb"),
    ]);
}

#[test]
fn other_html_and_br_in_code_stay_letters() {
    check(&[
        ("a <b>x</b>", "a <b>x</b>"),
        ("<div>\n<br>\n</div>", "<raw><div>\n<br>\n</div>"),
        ("`<br>`", "<c><br></c>"),
        ("```html\n<br>\n```", "```html\n<br>\n```"),
        ("    <br>", "```\n<br>```"),
        ("\\<br>", "<br>"),
        ("a <break> <br x=\"1\"> </br> &lt;br&gt;", "a <break> <br x=\"1\"> </br> <br>"),
        ("<br ", "<br"),
    ]);
    // What reads the same in this notation is another thing in the tree.
    assert_eq!(parse("\\<br>"), [Block::Paragraph(vec![Inline::Text("<br>".to_owned())])]);
}

// ---- emphasis ----

#[test]
fn emphasis_ends_beside_wide_punctuation() {
    check(&[
        ("**重要提示：**请注意。", "<b>重要提示：</b>请注意。"),
        ("*重要提示：*请注意。", "<i>重要提示：</i>请注意。"),
        ("***重要提示：***请注意。", "<i><b>重要提示：</b></i>请注意。"),
        ("~~旧价：~~新价", "<s>旧价：</s>新价"),
        ("请**（重要）**看", "请<b>（重要）</b>看"),
        ("请看**“你好”**吧", "请看<b>“你好”</b>吧"),
        ("**「日本語」**です。", "<b>「日本語」</b>です。"),
        ("これは**「重要」**です", "これは<b>「重要」</b>です"),
        ("**終わり。**次の文", "<b>終わり。</b>次の文"),
        ("**스크립트(script)**는", "<b>스크립트(script)</b>는"),
        ("**[链接](https://a.b)**后", "<b><a https://a.b>链接</a></b>后"),
        ("请看**[链接](https://a.b)**后", "请看<b><a https://a.b>链接</a></b>后"),
        ("**`代码`**吧", "<b><c>代码</c></b>吧"),
        ("用**`代码`**吧", "用<b><c>代码</c></b>吧"),
        ("**~~中文：~~**后", "<b><s>中文：</s></b>后"),
        ("**第一：**一，**第二：**二", "<b>第一：</b>一，<b>第二：</b>二"),
        ("**A**「**B**」", "<b>A</b>「<b>B</b>」"),
        ("**注意（1）**、下", "<b>注意（1）</b>、下"),
        ("- **步骤：**做\n- **结果：**好", "- <b>步骤：</b>做\n- <b>结果：</b>好"),
        ("# **题：**文", "# <b>题：</b>文"),
        ("|甲|**注：**|\n|-|-|\n|**“乙”**|**丙。**丁|", "甲|<b>注：</b>\n<b>“乙”</b>|<b>丙。</b>丁"),
        ("> **引：**文\n> **又：**文", "> <b>引：</b>文\n<b>又：</b>文"),
    ]);
}

#[test]
fn what_is_no_emphasis_beside_cjk_stays_as_written() {
    check(&[
        ("中文 * 中文 * 中文", "中文 * 中文 * 中文"),
        ("中\\*（文）\\*后", "中*（文）*后"),
        ("中\\\\**（文）**后", "中\\<b>（文）</b>后"),
        ("`**代码：**文`", "<c>**代码：**文</c>"),
        ("```\n**代码：**文\n```", "```\n**代码：**文\n```"),
        ("~~~中文\na\n~~~", "```中文\na\n```"),
        ("* 中\n* 文", "- 中\n- 文"),
        ("中\n\n***\n\n文", "中\n---\n文"),
        ("[a](https://e.org/中*（文）*)", "<a https://e.org/中*（文）*>a</a>"),
        ("[中*]\n\n[中*]: x", "<a x>中*</a>"),
        ("<b title=\"中*（文）*后\">", "<raw><b title=\"中*（文）*后\">"),
    ]);
}

#[test]
fn emphasis_beside_wide_punctuation_is_closed_for_the_moment_while_it_comes() {
    for (source, expected) in [
        ("**重要", "<b>重要</b>"),
        ("**重要：", "<b>重要：</b>"),
        ("**重要：**", "<b>重要：</b>"),
        ("**重要：**请", "<b>重要：</b>请"),
        ("请**（重", "请<b>（重</b>"),
    ] {
        assert_eq!(growing(source), expected, "{source:?}");
    }
}

// ---- bare addresses ----

#[test]
fn a_bare_address_is_a_link_that_ends_with_itself() {
    check(&[
        ("see https://e.org/a?b=c#d now", "see <a https://e.org/a?b=c#d>https://e.org/a?b=c#d</a> now"),
        ("HTTPS://E.org", "<a HTTPS://E.org>HTTPS://E.org</a>"),
        ("www.e.org.", "<a http://www.e.org>www.e.org</a>."),
        ("(https://e.org/a_(b))", "(<a https://e.org/a_(b)>https://e.org/a_(b)</a>)"),
        ("[https://e.org]", "[<a https://e.org>https://e.org</a>]"),
        (
            "{https://e.org}, \"https://e.org\"",
            "{<a https://e.org>https://e.org</a>}, \"<a https://e.org>https://e.org</a>\"",
        ),
        ("https://e.org?!", "<a https://e.org>https://e.org</a>?!"),
        ("https://e.org&amp;x;", "<a https://e.org>https://e.org</a>&x;"),
        ("http://localhost:3000/x", "<a http://localhost:3000/x>http://localhost:3000/x</a>"),
        ("**https://e.org**", "<b><a https://e.org>https://e.org</a></b>"),
        ("**https://e.org/x**.", "<b><a https://e.org/x>https://e.org/x</a></b>."),
        ("[x](https://e.org/x)**b**", "<a https://e.org/x>x</a><b>b</b>"),
        ("# https://e.org", "# <a https://e.org>https://e.org</a>"),
        (
            "| https://e.org |\n|---|\n| www.e.org |",
            "<a https://e.org>https://e.org</a>\n<a http://www.e.org>www.e.org</a>",
        ),
        ("a\nhttps://e.org\nb", "a\n<a https://e.org>https://e.org</a>\nb"),
        (
            "https://e.org/__init__.py and https://e.org/a*b*c~~d~~e_f_",
            "<a https://e.org/__init__.py>https://e.org/__init__.py</a> and \
             <a https://e.org/a*b*c~~d~~e_f>https://e.org/a*b*c~~d~~e_f</a>_",
        ),
    ]);
}

#[test]
fn a_bare_address_ends_before_wide_punctuation() {
    for mark in "。，、；：！？）】》」』”’…（【《「『“‘　".chars() {
        let source = format!("请看https://e.org/a{mark}后");
        let expected = format!("请看<a https://e.org/a>https://e.org/a</a>{mark}后");
        check(&[(&source, &expected)]);
    }
    check(&[
        ("访问https://e.org查看", "访问<a https://e.org>https://e.org</a>查看"),
        ("访问http://localhost:80查看", "访问<a http://localhost:80>http://localhost:80</a>查看"),
        ("https://例え.jp/x", "<a https://例え.jp/x>https://例え.jp/x</a>"),
        ("https://zh.e.org/wiki/中文。", "<a https://zh.e.org/wiki/中文>https://zh.e.org/wiki/中文</a>。"),
        ("**网址：https://e.org/a。**请", "<b>网址：<a https://e.org/a>https://e.org/a</a>。</b>请"),
    ]);
}

#[test]
fn what_only_looks_like_an_address_is_text() {
    check(&[
        ("https:// and http://. and www. and www.. x", "https:// and http://. and www. and www.. x"),
        ("xhttps://e.org ftp://www.e.org a.www.e.org", "xhttps://e.org ftp://www.e.org a.www.e.org"),
        ("www.a_b.c http://a.b_c", "www.a_b.c http://a.b_c"),
        ("javascript://e.org", "javascript://e.org"),
        ("`https://e.org`", "<c>https://e.org</c>"),
        ("```\nhttps://e.org\n```", "```\nhttps://e.org\n```"),
        ("[https://e.org](x)", "<a x>https://e.org</a>"),
        ("[**https://e.org**](x)", "<a x><b>https://e.org</b></a>"),
        ("![https://e.org](x)", "<image x>https://e.org</image>"),
        ("<https://e.org>", "<a https://e.org>https://e.org</a>"),
        ("<div>https://e.org</div>", "<raw><div>https://e.org</div>"),
        ("$\\text{https://e.org}$", "$\\text{https://e.org}$"),
    ]);
}

#[test]
fn an_address_that_is_still_coming_is_a_link_that_grows() {
    for (source, expected) in [
        ("see http", "see http"),
        ("see https://", "see https://"),
        ("see https://e", "see <a https://e>https://e</a>"),
        ("see https://e.", "see <a https://e>https://e</a>."),
        ("see https://e.org/a", "see <a https://e.org/a>https://e.org/a</a>"),
        ("**see https://e.org", "<b>see <a https://e.org>https://e.org</a></b>"),
    ] {
        assert_eq!(growing(source), expected, "{source:?}");
    }
}

// Of the GFM specification: those whose links are not ours, and why.
const OTHER_LINKS: &[(usize, &str)] = &[
    (610, "an address is a link between angle brackets that do not make it one"),
    (616, "the same"),
    (619, "CommonMark has no bare addresses"),
    (628, "ftp: no browser opens it any more"),
    (629, "no e-mail address is a link"),
    (630, "the same"),
    (631, "the same"),
];

#[test]
fn the_links_are_those_of_the_specification() {
    let Some(path) = suite("gfm/spec.txt") else { return };
    let text = fs::read_to_string(path).unwrap();
    let (mut links, mut bare) = (0, 0);
    for (at, example) in text.split("\n```````````````````````````````` example").skip(1).enumerate() {
        let (kind, body) = example.split_once('\n').unwrap();
        let body = format!("\n{body}");
        let (source, rest) = body.split_once("\n.\n").unwrap();
        let html = rest.split("\n````````````````````````````````").next().unwrap();
        // What is a link by raw HTML is none here.
        if source.contains("<a ") || OTHER_LINKS.iter().any(|(number, _)| *number == at + 1) {
            continue;
        }
        let source = format!("{}\n", source.trim_start_matches('\n')).replace('→', "\t");
        let found = written(&parse(&source));
        links += html.matches("<a href=").count();
        assert_eq!(found.matches("<a ").count(), html.matches("<a href=").count(), "{}: {source:?}", at + 1);
        if kind.contains("autolink") {
            for address in html.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                bare += 1;
                assert!(found.contains(&format!("<a {}>", address.replace("&amp;", "&"))), "{}: {found}", at + 1);
            }
        }
    }
    println!("{links} links, {bare} of them bare");
    assert!(links > 100 && bare > 10);
}

// ---- formulas ----

#[test]
fn a_formula_reads_as_it_was_written() {
    for formula in [
        r"\( \pi r^2 \)",
        r"\(x\)",
        r"\(f(x)\)",
        r"\( a_1 * b_2 * c_3 \)",
        r"\[ \int_0^1 x_i \, dx_i \]",
        r"\[ \{ a \mid a < b \} \]",
        r"\[ f[x](y) \&lt; <b> \]",
        "\\[\n\\begin{aligned}\na &= b \\\\\n&= c_{1} \\\\[2pt]\n\\end{aligned}\n\\]",
        "\\[\nE\n=\nmc^2\n- 1\n+ 2\n\\]",
        "\\( a_1 +\nb_1 \\)",
        r"$\{x_1\}$",
        r"$a*b*c$",
        r"$$\sum_{i=1}^n \left\{ x_i \right\} \\ y_i$$",
        "$$\n\\frac{a_1}{b_1}\\\\\nc\n$$",
    ] {
        check(&[(formula, formula), (&format!("So {formula} it is."), &format!("So {formula} it is."))]);
        let bold = format!("**{formula}** and *so*");
        check(&[(&bold, &format!("<b>{formula}</b> and <i>so</i>"))]);
    }
    check(&[
        (
            r"| \(a_1\) | $\{b_1\}$ |
|---|---|
| \(x\_1\) | **b** |",
            "\\(a_1\\)|$\\{b_1\\}$\n\\(x\\_1\\)|<b>b</b>",
        ),
        ("> \\[\n> a_1 \\\\\n> = b_1\n> \\]", "> \\[\na_1 \\\\\n= b_1\n\\]"),
        ("- \\[\n  a_1 \\\\\n  b_1\n  \\]\n- c", "- \\[\na_1 \\\\\nb_1\n\\]\n- c"),
        ("$$\na_1\n- b_1\n$$", "$$\na_1\n- b_1\n$$"),
        ("# \\(\\alpha\\)", "# \\(\\alpha\\)"),
        ("`\\(a\\)` and ```\\[b\\]```", "<c>\\(a\\)</c> and <c>\\[b\\]</c>"),
        ("```\n\\(a_1\\)\n```", "```\n\\(a_1\\)\n```"),
    ]);
}

#[test]
fn what_is_no_formula_is_read_as_ever() {
    check(&[
        ("$5 and $10, **not** $20", "$5 and $10, <b>not</b> $20"),
        ("US$5_a_ or *5$* to *6$*", "US$5_a_ or <i>5$</i> to <i>6$</i>"),
        ("from $5 to *$10*", "from $5 to <i>$10</i>"),
        ("$A is *b* and $C", "$A is <i>b</i> and $C"),
        ("- $$ · **cheap**\n- $$$ · **dear**", "- $$ · <b>cheap</b>\n- $$$ · <b>dear</b>"),
        (r"\[1\] and \[see here\] and \(sic\)", "[1] and [see here] and (sic)"),
        (r"\[not a link\](x)", "[not a link](x)"),
        (r"a \( b and \[ c **d**", "a ( b and [ c <b>d</b>"),
        ("\\( a^2\n\n**b** \\)", "( a^2\n<b>b</b> )"),
        (r"[a](https://e.org/b_\(c_d\))", "<a https://e.org/b_(c_d)>a</a>"),
        (r"\(a\(bb\) c", "(a(bb) c"),
        (r"\\(a_1\\)", r"\(a_1\)"),
        ("$x and `y$` *z*", "$x and <c>y$</c> <i>z</i>"),
    ]);
}

#[test]
fn a_formula_that_the_text_ends_in_keeps_its_backslashes() {
    for formula in [r"\( \pi r^2", r"\[ \{ a_1", "\\[\nx", r"$$ \{ a", r"so \(\frac{1}{2", "\\[\na\n=\n\\{ b"] {
        check(&[(formula, formula)]);
        assert_eq!(growing(formula), formula);
        let bold = format!("**a** *b {formula}*");
        check(&[(&bold, &format!("<b>a</b> <i>b {formula}</i>"))]);
    }
}

#[test]
fn noncharacters_of_the_text_are_no_marks_of_ours() {
    for source in ["a\u{fdd0}b\u{fdd1}c **d：**e", "\u{fdd0}\u{fdd1}\u{fddf}\u{fdef}"] {
        let whole = written(&parse(source));
        assert!(!whole.contains('\\') && !whole.contains("\u{fdd0}"), "{whole:?}");
        assert_eq!(grow(letters(source)), parse(source));
    }
}

// What a page shows after each piece has no panic in it, no letter of ours, and comes to what the whole text reads like.
#[test]
fn any_mixture_of_these_marks_is_read_to_its_end() {
    let pieces = [
        "\\[",
        "\\]",
        "\\(",
        "\\)",
        "$",
        "$$",
        "**",
        "*",
        "~~",
        "~",
        "_",
        "：",
        "。",
        "中",
        "（",
        "a",
        "b1",
        "\\",
        "\n",
        "\n\n",
        "- ",
        "# ",
        "> ",
        "<br>",
        "<",
        "https://e.org/",
        "www.e.org",
        "`",
        "```\n",
        "|",
        "[a](",
        "]",
        ")",
        "&amp;",
        "=\n",
        " ",
        "^",
        "\u{fdd1}",
        "1. ",
        "    ",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let (mut read_again, count) = (0, 4_000);
    for _ in 0..count {
        let text: String = (0..random(24) + 1).map(|_| pieces[random(pieces.len())]).collect();
        let mut stream = MarkdownStream::default();
        for letter in letters(&text) {
            stream.push(letter);
            stream.refresh();
            let shown = written(&[stream.frozen(), stream.open()].concat());
            assert!(!shown.contains(|letter| ('\u{fdd0}'..='\u{fddf}').contains(&letter)), "{text:?}: {shown:?}");
        }
        let before = [stream.frozen(), stream.open()].concat();
        stream.finish();
        read_again += usize::from(stream.was_reread());
        assert_eq!(stream.frozen(), parse(&text), "{text:?}, shown before as {before:?}");
    }
    println!("{read_again} of {count} texts were read again at their end");
    assert!(read_again < count / 50);
}

//! Thoughts among the words of an answer: what is told as thoughts, wherever the stream is cut.

use pagehand::protocol::{FinishReason, Message, ModelEvent, Part};
use serde_json::json;

use super::{events, request, target};

/// A part of an answer: thoughts, or words for the user.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Thoughts(String),
    Words(String),
}

fn thoughts(words: &str) -> Said {
    Said::Thoughts(words.to_owned())
}

fn words(words: &str) -> Said {
    Said::Words(words.to_owned())
}

/// What a page has in the end of an answer that comes in these pieces.
fn said(vendor: &str, pieces: &[&str]) -> Vec<Said> {
    let body: String = match vendor {
        "ollama" => {
            let line = |piece: &&str| format!("{}\n", json!({ "message": { "role": "assistant", "content": piece } }));
            let end = json!({ "message": { "content": "" }, "done": true, "done_reason": "stop" });
            pieces.iter().map(line).chain([format!("{end}\n")]).collect()
        }
        _ => {
            let chunk = |delta, finish| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
            let deltas = pieces.iter().map(|piece| chunk(json!({ "content": piece }), json!(null)));
            deltas.chain([chunk(json!({}), json!("stop"))]).map(|chunk| format!("data: {chunk}\n\n")).collect()
        }
    };
    let mut said = Vec::new();
    let mut open = false;
    for event in events(&target(vendor), &request(Vec::new()), &[body.as_bytes()]) {
        match event {
            ModelEvent::TextDelta(more) => match said.last_mut() {
                Some(Said::Words(words)) => words.push_str(&more),
                _ => said.push(Said::Words(more)),
            },
            ModelEvent::ReasoningDelta(more) => match said.last_mut() {
                Some(Said::Thoughts(words)) => words.push_str(&more),
                _ => said.push(Said::Thoughts(more)),
            },
            ModelEvent::TextWasReasoning => {
                assert!(open, "only text that is open can be taken back");
                let Some(Said::Words(words)) = said.pop() else { panic!("only text can be taken back") };
                said.push(Said::Thoughts(words));
            }
            ModelEvent::TextStart => open = true,
            ModelEvent::TextEnd => open = false,
            ModelEvent::Finish(reason) => assert_eq!(reason, FinishReason::Done),
            ModelEvent::Start | ModelEvent::ReasoningStart | ModelEvent::ReasoningEnd | ModelEvent::Usage(_) => {}
            other => panic!("{other:?}"),
        }
    }
    // White space at the end of what was told as text is no difference.
    for one in &mut said {
        if let Said::Thoughts(words) = one {
            words.truncate(words.trim_end().len());
        }
    }
    said
}

/// The same whole, letter by letter, and cut anywhere into two.
fn check(text: &str, expected: &[Said]) {
    let letters: Vec<&str> = text.char_indices().map(|(at, letter)| &text[at..at + letter.len_utf8()]).collect();
    for vendor in ["openai_compatible", "ollama"] {
        assert_eq!(said(vendor, &[text]), expected, "{vendor}: {text:?}");
        assert_eq!(said(vendor, &letters), expected, "{vendor}, letter by letter: {text:?}");
        for (at, _) in text.char_indices().skip(1) {
            assert_eq!(said(vendor, &[&text[..at], &text[at..]]), expected, "{vendor}, cut at {at}: {text:?}");
        }
    }
}

#[test]
fn what_an_answer_opens_with_a_tag_of_thoughts_is_no_part_of_it() {
    for (open, close) in [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("[THINK]", "[/THINK]"),
        ("<|channel>thought\n", "<channel|>"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("<|start|>assistant<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"),
        ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ] {
        check(&format!("{open}Hm.{close}Yes."), &[thoughts("Hm."), words("Yes.")]);
        check(
            &format!("\n {open}Hm, a < b.\n<b>{close}<i>Yes</i>"),
            &[thoughts("Hm, a < b.\n<b>"), words("<i>Yes</i>")],
        );
    }
    check("<think>\nHm.\n\nSo.\n</think>\n\nYes.\n", &[thoughts("Hm.\n\nSo."), words("Yes.\n")]);
    check("<think>\n\n</think>\n\nYes.", &[words("Yes.")]);
    check("<think>a</think>\n<think>b</think>Yes.", &[thoughts("ab"), words("Yes.")]);
    check("<think>a</thin</think>Yes.", &[thoughts("a</thin"), words("Yes.")]);
    check("<think>é</think>ü", &[thoughts("é"), words("ü")]);
}

#[test]
fn the_channels_of_gpt_oss_are_told_apart() {
    let start = "<|start|>assistant";
    check(
        &format!(
            "<|channel|>analysis<|message|>Hm.<|end|>{start}<|channel|>commentary<|message|>I look.<|end|>{start}\
             <|channel|>analysis<|message|>So.<|end|>{start}<|channel|>final<|message|>Yes.<|return|>"
        ),
        &[thoughts("Hm."), words("I look."), thoughts("So."), words("\n\nYes.")],
    );
    check(
        &format!(
            "<|channel|>analysis<|message|>Hm.<|end|>{start}<|channel|>commentary to=functions.f <|constrain|>json\
             <|message|>{{}}<|call|>"
        ),
        &[thoughts("Hm.{}")],
    );
    check("<|channel|>final<|message|>Yes.<|return|>", &[words("Yes.")]);
    check(
        "<|channel|>final<|message|>It ends in <|end|> or <|return|>, says `<|start|>`.",
        &[words("It ends in <|end|> or <|return|>, says `<|start|>`.")],
    );
    check("<|channel|>analysis<|message|>Hm", &[thoughts("Hm")]);
    check("<|channel|>analysis<|message|>Hm<|end|><|start|>assis", &[thoughts("Hm")]);
    check("<|channel|>analysis", &[words("<|channel|>analysis")]);
    let long = format!("<|start|>{}", "x".repeat(300));
    check(&long, &[words(&long)]);
}

#[test]
fn thoughts_that_the_prompt_opened_end_with_the_closing_tag() {
    for close in ["</think>", "</thinking>"] {
        check(&format!("Hm.\n{close}\n\nYes."), &[thoughts("Hm."), words("Yes.")]);
        check(&format!("\nHm, a < b.{close}Yes."), &[thoughts("\nHm, a < b."), words("Yes.")]);
        check(
            &format!("Hm.\n```\n{close}\n```\n{close}**Yes**"),
            &[thoughts(&format!("Hm.\n```\n{close}\n```")), words("**Yes**")],
        );
        check(&format!("Hm.\n{close}"), &[thoughts("Hm.")]);
        check(&format!("\n{close}\n\nYes."), &[words("Yes.")]);
        check(close, &[]);
    }
    check("好。</think>是的。</think>", &[thoughts("好。"), words("是的。</think>")]);
}

#[test]
fn an_answer_may_speak_of_the_tags() {
    for text in [
        "Yes. <think>no</think> Yes.",
        "A model opens with <think> and closes its thoughts.\n</think>\nSo.",
        "The tag `</think>` ends it.\nSo.",
        "The tag </think> ends it.",
        "The tag is </think>.",
        "(</think>)",
        "\"</think>\"",
        "</think> is a tag.",
        "```\n</think>\n```\nSo.",
        "~~~html\na</think>b\n~~~",
        "{\"a\": \"b</think>c\"}",
        "a < b, <thinker> and </thin",
        "<",
        "<thin",
        "<thinks>a</think >",
        "[THINKING] of [TH",
        "  \n",
    ] {
        check(text, &[words(text)]);
    }
    // Nor does a closing tag in a block of code end what was opened.
    check("<think>a\n```\n</think>\n```\nb</think>c", &[thoughts("a\n```\n</think>\n```\nb"), words("c")]);
}

#[test]
fn thoughts_that_are_never_closed_are_all_there_is() {
    check("<think>Hm, ", &[thoughts("Hm,")]);
    check("<think>Hm</thi", &[thoughts("Hm</thi")]);
    check("<think>", &[]);
}

#[test]
fn what_was_thought_is_not_sent_back() {
    let mut before = super::answer("Yes.", &[]);
    if let Message::Assistant(answer) = &mut before {
        answer.parts.insert(0, Part::reasoning("Hm."));
    }
    let asked = request(vec![super::user("Hi"), before, super::user("And?")]);
    for vendor in ["openai_compatible", "ollama"] {
        let body = super::body(vendor, &asked).to_string();
        assert!(body.contains("Yes.") && !body.contains("Hm."), "{vendor}: {body}");
    }
}

// Made by us: a call or the server's own thoughts end what may have been thoughts.
#[test]
fn a_call_or_thoughts_of_the_servers_own_come_behind_what_is_held() {
    let chunk = |delta: serde_json::Value, finish: Option<&str>| {
        let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        format!("data: {chunk}\n\n")
    };
    let words = |words: &str| chunk(json!({ "content": words }), None);
    let call = json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "f", "arguments": "{}" } }] });
    let end = chunk(json!({}), Some("tool_calls"));
    for (body, expected) in [
        (
            words("Hm.</thi") + &chunk(call.clone(), None) + &words("nk>b") + &end,
            &["text+", "text Hm.", "text </thi", "text-", "call 0 f id=c", "args 0 {}", "text+", "text nk>b", "text-"]
                [..],
        ),
        (
            words("<think>Hm.</thi") + &chunk(call, None) + &end,
            &["reasoning+", "reasoning Hm.", "reasoning </thi", "reasoning-", "call 0 f id=c", "args 0 {}"],
        ),
        (
            chunk(json!({ "reasoning_content": "Hm." }), None) + &words("a</think>b") + &end,
            &["reasoning+", "reasoning Hm.", "reasoning-", "text+", "text a</think>b", "text-"],
        ),
    ] {
        let mut found = super::heard("openai_compatible", &[body.as_bytes()]);
        found.retain(|word| !word.starts_with("start") && !word.starts_with("call-") && !word.starts_with("finish"));
        assert_eq!(found, expected);
    }
}

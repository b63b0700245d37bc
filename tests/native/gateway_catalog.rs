//! Tools by configuration: policy, profiles, faults, and files that change while the gateway runs.

use std::sync::Arc;
use std::time::Duration;

use pagehand::gateway::tools::ServerTool;
use pagehand::gateway::{Builder, Gateway};
use pagehand::protocol::Outcome;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::gateway_support::{Backend, Door, Folder, config, definition, json_answer, tool};

fn entry(name: &str, version: &str, more: &str) -> String {
    format!(
        "[[tool]]\nname = \"{name}\"\nversion = \"{version}\"\nowner = \"billing\"\nrisk = \"read\"\n{more}\n\
         description = \"Reads something of billing for the tests of this gateway. Returns it.\"\n\
         [tool.http]\nurl = \"https://api.example.com/{name}\"\n"
    )
}

fn builder(path: &std::path::Path) -> Builder {
    let mut setup = config();
    setup.tools = Some(path.to_owned());
    Gateway::builder(setup).variables(|_| None).poll(Duration::from_millis(20))
}

// Names with versions, and what was refused: name, owner, file, words.
async fn served(door: &Door) -> (Vec<String>, Vec<[String; 4]>) {
    let listed = door.get("/tools").await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = listed["tools"].as_array().expect("tools");
    let tags = tools.iter().map(|tool| format!("{}@{}", text(&tool["name"]), text(&tool["version"]))).collect();
    let refused = listed["refused"].as_array().expect("refused");
    let faults =
        refused.iter().map(|one| ["name", "owner", "file", "message"].map(|field| text(&one[field]))).collect();
    (tags, faults)
}

async fn until(door: &Door, what: &str, holds: impl Fn(&[String], &[[String; 4]]) -> bool) {
    for _ in 0..200 {
        let (tags, refused) = served(door).await;
        if holds(&tags, &refused) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}: {:?}", served(door).await);
}

#[tokio::test]
async fn a_file_with_faults_does_not_start_and_tells_all_of_them() {
    let folder = Folder::new();
    let text = format!(
        "allowHosts = [\"localhost\"]\ntols = 1\n{}{}{}[[tool]]\nname = \"No\"\n[[policy]]\nthen = \"maybe\"\n[[profile]]\nsize = 1\n",
        entry("good_tool", "1", ""),
        entry("bad_scope", "1", "scope = \"browser\"\napproval = \"tool\""),
        entry("good_tool", "2", "")
    );
    let why = builder(&folder.write("all.toml", &text)).build().expect_err("it has faults");
    for words in [
        "allowHosts must be an array",
        "\"tols\" is nothing this file may have",
        "tool \"bad_scope\" of billing: its scope is \"server\"",
        "tool \"bad_scope\" of billing: its approval is \"tool\", but a request can not ask",
        "tool \"good_tool\" of billing: the name is taken",
        "tool \"No\" of an unnamed owner: its risk must be",
        "it has no [tool.http]",
        "rule 1: its then must be",
        "a [[profile]] has a name",
        "(all.toml)",
    ] {
        assert!(why.contains(words), "no \"{words}\" in:\n{why}");
    }
    let broken = builder(&folder.write("broken.toml", "a = 1\nb = [\n")).build().expect_err("no TOML");
    assert!(broken.contains("no TOML in line"), "{broken}");
    let none = builder(&folder.path().join("nowhere.toml")).build().expect_err("nothing there");
    assert!(none.contains("nowhere.toml"), "{none}");
}

#[tokio::test]
async fn a_bad_entry_of_a_directory_is_refused_by_itself() {
    let folder = Folder::new();
    folder.write("a.toml", &(entry("first_tool", "1", "") + &entry("bad_tool", "1", "aproval = \"always\"")));
    folder.write("b.toml", "this is no TOML");
    folder.write("c.toml", &(entry("first_tool", "9", "") + &entry("third_tool", "1", "")));
    folder.write("notes.txt", "not read");
    let code = ServerTool::new(definition("code_tool"), |_, _| async { Outcome::Result(Value::Null) });
    let door = Door::built(builder(folder.path()).tool(code));
    let (tags, refused) = served(&door).await;
    assert_eq!(tags, ["code_tool@1", "first_tool@1", "third_tool@1"]);
    let found: Vec<[&str; 3]> = refused.iter().map(|[name, owner, file, _]| [name.as_str(), owner, file]).collect();
    assert_eq!(
        found,
        [["b.toml", "", "b.toml"], ["bad_tool", "billing", "a.toml"], ["first_tool", "billing", "c.toml"]]
    );
    assert!(refused[1][3].contains("did you mean \"approval\""), "{refused:?}");
    assert!(refused[2][3].contains("taken"), "{refused:?}");

    folder.write("b.toml", "[[policy]]\nthen = \"refuse\nreason = \"x\"");
    let why = builder(folder.path()).build().expect_err("it may forbid something");
    assert!(why.contains("policy \"b.toml\"") && why.contains("no TOML"), "{why}");
    folder.write("b.toml", "");
    folder.write("d.toml", "[[policy]]\nthen = \"refuse\"\n");
    let why = builder(folder.path()).build().expect_err("half a policy is none");
    assert!(why.contains("without a reason") && why.contains("d.toml"), "{why}");
}

#[tokio::test]
async fn files_that_change_are_loaded_again() {
    let folder = Folder::new();
    folder.write("a.toml", &(entry("one_tool", "1", "") + &entry("two_tool", "1", "")));
    let door = Door::built(builder(folder.path()));
    assert_eq!(served(&door).await.0, ["one_tool@1", "two_tool@1"]);
    let old = door.get("/tools").await["tools"][0]["hash"].as_str().expect("a hash").to_owned();

    folder.write("a.toml", &(entry("one_tool", "2", "") + &entry("two_tool", "2", "risk = 5")));
    until(&door, "a duplicate key makes the file unreadable", |_, refused| !refused.is_empty()).await;
    assert_eq!(served(&door).await.0, ["one_tool@1", "two_tool@1"], "what was good stays");

    folder.write("a.toml", &(entry("one_tool", "2", "") + &entry("two_tool", "2", "aproval = \"always\"")));
    until(&door, "the other entry changes", |tags, _| tags.contains(&"one_tool@2".to_owned())).await;
    let (tags, refused) = served(&door).await;
    assert_eq!(tags, ["one_tool@2", "two_tool@1"], "the last good version of a bad entry stays");
    assert_eq!((refused.len(), refused[0][0].as_str()), (1, "two_tool"));
    let stale = door.post("one_tool", &[("pagehand-definition", &old)], &json!({ "arguments": {} })).await;
    assert_eq!(stale.status, 409);
    assert!(
        stale.text.contains("the page knows version 1 (hash") && stale.text.contains("serves version 2"),
        "{}",
        stale.text
    );

    folder.write("a.toml", &entry("one_tool", "2", ""));
    folder.write("b.toml", &entry("new_tool", "1", ""));
    until(&door, "files come", |tags, refused| tags == ["new_tool@1", "one_tool@2"] && refused.is_empty()).await;
    std::fs::remove_file(folder.path().join("a.toml")).expect("it was there");
    until(&door, "files go", |tags, _| tags == ["new_tool@1"]).await;
    assert_eq!(door.post("one_tool", &[], &json!({ "arguments": {} })).await.status, 403);
}

#[tokio::test]
async fn a_reload_that_is_asked_for_happens_at_once() {
    let folder = Folder::new();
    let file = folder.write("a.toml", &entry("one_tool", "1", ""));
    let asked = Arc::new(Notify::new());
    let door = Door::built(builder(&file).poll(Duration::from_secs(3600)).reload(Arc::clone(&asked)));
    folder.write("a.toml", &entry("one_tool", "2", ""));
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(served(&door).await.0, ["one_tool@1"]);
    asked.notify_one();
    until(&door, "it is loaded", |tags, _| tags == ["one_tool@2"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_in_flight_keeps_its_tool() {
    let backend = Backend::start(|_| {
        std::thread::sleep(Duration::from_millis(500));
        json_answer(200, &json!("from the old one"))
    })
    .await;
    let folder = Folder::new();
    let text =
        entry("one_tool", "1", "").replace("https://api.example.com", &format!("http://127.0.0.1:{}", backend.port));
    let file = folder.write("a.toml", &format!("allowHosts = [\"127.0.0.1:{}\"]\n{text}", backend.port));
    let asked = Arc::new(Notify::new());
    let door = Door::built(builder(&file).reload(Arc::clone(&asked)));
    let nothing = json!({});
    let (answer, ()) = tokio::join!(door.call("one_tool", &nothing), async {
        folder.write("a.toml", &entry("other_tool", "1", ""));
        until(&door, "the tool goes", |tags, _| tags == ["other_tool@1"]).await;
    });
    assert_eq!(answer, json!({ "result": "from the old one" }));
}

#[tokio::test]
async fn a_policy_refuses_here_and_asks_in_the_page() {
    let folder = Folder::new();
    let rules = "[[policy]]\nwhen = { risk = [\"write\"], state = { \"user:tier\" = [\"free\"] } }\nthen = \"refuse\"\n\
        reason = \"free accounts change nothing.\"\n\
        [[policy]]\nwhen = { owner = [\"tests\"], arguments = \"tool\" }\nthen = \"refuse\"\nreason = \"never.\"\n\
        [[policy]]\nwhen = { risk = [\"write\"] }\nthen = \"ask\"\nreason = \"Sure?\"\n";
    let mut writes = definition("write_it");
    writes.risk = pagehand::protocol::Risk::Write;
    let run = |_, _| async { Outcome::Result(json!("ran")) };
    let builder = builder(&folder.write("a.toml", rules)).tools([ServerTool::new(writes, run), tool("read_it", run)]);
    let door = Door::built(builder);
    // (tool, tier, result or code)
    let cases = [("write_it", "free", "refused"), ("write_it", "gold", "ran"), ("read_it", "free", "ran")];
    for (name, tier, expected) in cases {
        let body = json!({ "arguments": {}, "context": { "state": { "user:tier": tier } } });
        let told = door.post(name, &[], &body).await.json();
        assert_eq!(told["result"].as_str().or(told["error"]["code"].as_str()), Some(expected), "{name} {tier}: {told}");
        assert!(expected == "ran" || told.to_string().contains("free accounts change nothing."), "{told}");
    }
    let policy = door.get("/tools").await["policy"].clone();
    assert_eq!(pagehand::tools::Policy::from_json(&policy).map(|_| ()), Ok(()), "a page can read it");
    assert_eq!((&policy[1]["when"]["arguments"], &policy[2]["then"]), (&json!("tool"), &json!("ask")));
}

#[tokio::test]
async fn profiles_are_listed_and_bounded() {
    let folder = Folder::new();
    let profiles = "[[profile]]\nname = \"clerk\"\nmaxCharacters = 400\n[[profile]]\nname = \"open\"\n";
    let named = |name: &str, profile: &str| entry(name, "1", &format!("profiles = [\"{profile}\"]"));
    let text = [
        profiles.to_owned(),
        named("one_tool", "clerk"),
        named("two_tool", "nobody"),
        named("three_tool", "clerk"),
        named("four_tool", "clerk"),
    ]
    .concat();
    folder.write("a.toml", &text);
    let door = Door::built(builder(folder.path()));
    let (tags, refused) = served(&door).await;
    assert!(tags.contains(&"one_tool@1".to_owned()) && tags.len() < 4, "{tags:?}");
    assert!(
        refused.iter().any(|[name, _, _, words]| name == "two_tool" && words.contains("which nobody declared")),
        "{refused:?}"
    );
    assert!(
        refused.iter().any(|[name, _, _, words]| name == "clerk" && words.contains("400 are allowed")),
        "{refused:?}"
    );
    let listed = door.get("/tools").await["profiles"].clone();
    assert_eq!(
        listed,
        json!([{ "name": "clerk", "maxCharacters": 400, "maxTokens": null }, { "name": "open", "maxCharacters": null, "maxTokens": null }])
    );

    let mut page = definition("page_tool");
    page.scope = pagehand::protocol::Scope::Browser;
    page.profiles = vec!["clerk".to_owned()];
    page.description = "x".repeat(500);
    let answer = door.send("POST", "/check", &[], Some(&json!({ "tools": [page.to_json()] }))).await.json();
    assert_eq!(
        (&answer["problems"][0]["kind"], &answer["problems"][0]["name"]),
        (&json!("profile"), &json!("clerk")),
        "{answer}"
    );
}

// The examples of the documentation, as they stand there.
#[tokio::test]
async fn the_examples_of_the_documentation_are_taken() {
    let text = std::fs::read_to_string(crate::support::root().join("docs/gateway.md")).expect("the documentation");
    let blocks: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 4, "an HTTP tool, an OpenAPI block and a table for it, rules");
    let folder = Folder::new();
    let operation =
        |id: &str| json!({ "operationId": id, "summary": "Does something with orders for this test. Returns them." });
    let document = json!({ "openapi": "3.0.0", "info": { "version": "1" }, "paths": {
        "/a": { "get": operation("getOrder"), "post": operation("cancelOrder") }, "/b": { "get": operation("listOrders") } } });
    folder.write("orders.yaml", &document.to_string());
    let table = blocks[1].replace("allow = [\"getOrder\", \"listOrders\"]", "") + blocks[2];
    for (at, (block, names)) in [
        (blocks[0], vec!["order_note_add"]),
        (blocks[1], vec!["get_order", "list_orders"]),
        (&table, vec!["get_order", "order_cancel"]),
        (blocks[3], vec![]),
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.write(&format!("{at}.toml"), block);
        let mut setup = config();
        setup.tools = Some(file);
        let variable = |name: &str| (name == "ORDERS_TOKEN").then(|| "token".to_owned());
        let door = Door::built(Gateway::builder(setup).variables(variable));
        let tags = served(&door).await.0;
        assert_eq!(tags, names.iter().map(|name| format!("{name}@1")).collect::<Vec<_>>(), "{block}");
    }
}

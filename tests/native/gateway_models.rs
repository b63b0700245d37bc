//! Several models behind one gateway: chosen by name, listed, spoken to each in its own way, one in another's place.

use std::fs;

use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use pagehand::ag_ui::{AgUiDecoder, write_input};
use pagehand::gateway::{Config, Gateway, Prices, Secret};
use pagehand::protocol::{
    AssistantMessage, Attachment, Message, MessageId, MessageStatus, ModelEvent, ModelRequest, Part, Prompt, RunId,
    Source, ThreadId, Usage, UserMessage,
};
use pagehand::providers::{Target, Vendor};
use serde_json::{Value, json};

use crate::gateway_support::{Answer, Backend, Door, Folder, Seen, json_answer};
use crate::support::words::words;

const KEY: &str = "sk-never-to-be-seen";

fn request(model: &str) -> ModelRequest {
    ModelRequest {
        model: model.to_owned(),
        messages: vec![Message::User(UserMessage::new(MessageId::from("m"), "Hello"))],
        ..ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
    }
}

fn configured(file: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
    let folder = Folder::new();
    let path = folder.path().join("models.toml");
    fs::write(&path, file).unwrap();
    fs::write(folder.path().join("key.txt"), format!("{KEY}\n")).unwrap();
    fs::write(folder.path().join("two.txt"), "one\ntwo\n").unwrap();
    let arguments = ["--models".to_owned(), path.display().to_string()];
    let variable =
        |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
    Config::read(arguments, variable).map(|config| config.expect("no help was asked for"))
}

async fn ask(config: &Config, request: &ModelRequest) -> (Vec<String>, Answer) {
    let door = Door::built(Gateway::builder(config.clone()));
    let answer = door.send("POST", "/agent", &[], Some(&write_input(request))).await;
    let mut decoder = AgUiDecoder::new(request);
    decoder.push(answer.text.as_bytes());
    decoder.finish();
    let events: Vec<ModelEvent> = std::iter::from_fn(|| decoder.next()).collect();
    (words(&events), answer)
}

// Each path says in its own way that it was asked.
fn answers(seen: &Seen) -> Response {
    let stream = |body: String| ([("content-type", "text/event-stream")], body).into_response();
    let said = match seen.path.as_str() {
        "/busy/chat/completions" => {
            let mut answer = json_answer(503, &json!({ "error": { "message": format!("No room for {KEY}.") } }));
            answer.headers_mut().insert("x-request-id", HeaderValue::from_static("req_busy"));
            return answer;
        }
        "/locked/chat/completions" => return json_answer(401, &json!({ "error": { "message": "No." } })),
        "/page/chat/completions" => return ([("content-type", "text/html")], "<h1>Welcome</h1>").into_response(),
        "/refusing/chat/completions" => return json_answer(400, &json!({ "error": { "message": "Bad tool." } })),
        "/v1/messages" if seen.body.contains("STALE") => {
            let words = "messages.1.content.0: Invalid `signature` in `thinking` block";
            return json_answer(400, &json!({ "error": { "type": "invalid_request_error", "message": words } }));
        }
        "/v1/messages" => {
            let events = [
                json!({ "type": "message_start", "message": { "usage": { "input_tokens": 3, "cache_read_input_tokens": 7 } } }),
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
                json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Anthropic." } }),
                json!({ "type": "content_block_stop", "index": 0 }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 2 } }),
                json!({ "type": "message_stop" }),
            ];
            let mut answer = stream(events.iter().map(|event| format!("data: {event}\n\n")).collect());
            answer.headers_mut().insert("request-id", HeaderValue::from_static("req_1"));
            answer.headers_mut().insert("anthropic-ratelimit-tokens-remaining", HeaderValue::from_static("99"));
            answer.headers_mut().insert("x-secret-of-the-vendor", HeaderValue::from_static("1"));
            return answer;
        }
        "/api/chat" => {
            let lines =
                "{\"message\":{\"content\":\"Ollama.\"},\"done\":false}\n{\"done\":true,\"done_reason\":\"stop\"}\n";
            return ([("content-type", "application/x-ndjson")], lines).into_response();
        }
        path if path.starts_with("/gemini/models/") => {
            json!({ "candidates": [{ "content": { "parts": [{ "text": "Gemini." }] }, "finishReason": "STOP" }] })
        }
        _ => json!({ "choices": [{ "delta": { "content": "Chat." }, "finish_reason": "stop" }] }),
    };
    stream(format!("data: {said}\n\n"))
}

fn file(port: u16) -> String {
    let at = format!("http://127.0.0.1:{port}");
    format!(
        r#"
        [[model]]
        name = "clever"
        label = "Clever"
        provider = "anthropic"
        model = "claude"
        url = "{at}"
        key_env = "CLEVER_KEY"
        price = {{ input = 3.0, output = 15.0, cached = 0.3 }}
        parameters = {{ max_tokens = 99 }}

        [[model]]
        provider = "gemini"
        model = "gem"
        url = "{at}/gemini"
        key_file = "key.txt"

        [[model]]
        name = "home"
        provider = "ollama"
        model = "qwen3"
        url = "{at}"
        parameters = {{ options = {{ num_ctx = 16384, seed = 1 }}, think = false }}
        without = ["options.seed", "stream"]

        [[model]]
        name = "busy"
        model = "m"
        url = "{at}/busy"
        key_file = "key.txt"
        fallback = ["refusing", "home"]

        [[model]]
        name = "crowded"
        model = "m"
        url = "{at}/busy"
        key_file = "key.txt"
        fallback = ["home"]

        [[model]]
        name = "refusing"
        model = "m"
        url = "{at}/refusing"
        fallback = ["home"]
        "#
    )
}

#[tokio::test]
async fn each_model_is_spoken_to_in_its_own_way_with_its_own_key() {
    let backend = Backend::start(answers).await;
    let config = configured(&file(backend.port), &[("CLEVER_KEY", KEY)]).unwrap();
    for (model, said, path, header) in [
        ("", "Anthropic.", "/v1/messages", Some(("x-api-key", KEY.to_owned()))),
        ("clever", "Anthropic.", "/v1/messages", Some(("anthropic-version", "2023-06-01".to_owned()))),
        (
            "gem",
            "Gemini.",
            "/gemini/models/gem:streamGenerateContent?alt=sse",
            Some(("x-goog-api-key", KEY.to_owned())),
        ),
        ("home", "Ollama.", "/api/chat", None),
    ] {
        let (heard, _) = ask(&config, &request(model)).await;
        assert!(heard.contains(&format!("text {said}")), "{model}: {heard:?}");
        let seen = backend.taken().pop().unwrap();
        assert_eq!(seen.path, path);
        assert_eq!(seen.header("accept-encoding"), Some("identity"));
        match header {
            Some((name, value)) => assert_eq!(seen.header(name), Some(value.as_str())),
            None => assert_eq!(seen.header("authorization"), None),
        }
    }
    let (heard, _) = ask(&config, &request("nobody")).await;
    assert_eq!(
        heard,
        [
            "start",
            "error bad_request: There is no model named \"nobody\"; there are: clever, gem, home, busy, crowded, refusing."
        ]
    );
}

#[tokio::test]
async fn what_is_configured_is_in_every_request_and_what_an_answer_costs_counts_the_cache() {
    let backend = Backend::start(answers).await;
    let config = configured(&file(backend.port), &[("CLEVER_KEY", KEY)]).unwrap();
    let (heard, answer) = ask(&config, &request("clever")).await;
    let sent: Value = serde_json::from_str(&backend.taken().pop().unwrap().body).unwrap();
    assert_eq!((&sent["max_tokens"], &sent["model"]), (&json!(99), &json!("claude")));
    // 3 at 3.00, 7 at 0.30, 2 at 15.00 a million: 9 + 2.1 + 30 millionths.
    assert!(heard.contains(&"usage 10 2 cached 7 cost 42".to_owned()), "{heard:?}");
    assert_eq!(answer.headers["request-id"], "req_1");
    assert_eq!(answer.headers["anthropic-ratelimit-tokens-remaining"], "99");
    assert!(!answer.headers.contains_key("x-secret-of-the-vendor"));
    ask(&config, &request("home")).await;
    let sent: Value = serde_json::from_str(&backend.taken().pop().unwrap().body).unwrap();
    assert_eq!((&sent["options"], &sent["think"]), (&json!({ "num_ctx": 16384 }), &json!(false)));
    assert_eq!(sent.get("stream"), None, "what is left out is not there");
}

#[tokio::test]
async fn another_model_answers_where_one_can_not_and_not_where_the_request_is_what_is_wrong() {
    let backend = Backend::start(answers).await;
    let config = configured(&file(backend.port), &[("CLEVER_KEY", KEY)]).unwrap();
    let (heard, _) = ask(&config, &request("crowded")).await;
    assert!(heard.contains(&"text Ollama.".to_owned()), "{heard:?}");
    assert_eq!(backend.taken().len(), 2);
    let (heard, _) = ask(&config, &request("busy")).await;
    assert_eq!(heard.last().unwrap(), "error bad_request: Bad tool.", "the second of three refuses the request");
    assert_eq!(backend.taken().len(), 2);
}

#[tokio::test]
async fn where_no_fallback_can_help_the_model_that_was_meant_is_told_of() {
    let backend = Backend::start(answers).await;
    let at = format!("http://127.0.0.1:{}", backend.port);
    let file = format!(
        "[[model]]\nname = \"seeing\"\nmodel = \"m\"\nurl = \"{at}/busy\"\nfallback = [\"blind\"]\n\
         [[model]]\nname = \"blind\"\nmodel = \"m\"\nprovider = \"deepseek\"\nurl = \"{at}\"\n\
         [[model]]\nname = \"busy\"\nmodel = \"m\"\nurl = \"{at}/busy\"\nfallback = [\"wrong\"]\n\
         [[model]]\nname = \"wrong\"\nmodel = \"m\"\nurl = \"{at}/locked\"\n"
    );
    let config = configured(&file, &[]).unwrap();
    let mut asked = request("seeing");
    let Some(Message::User(said)) = asked.messages.first_mut() else { panic!("no message of the user") };
    let source = Source::Data("aMOm".into());
    said.attachments = vec![Attachment { name: "a.png".to_owned(), media_type: "image/png".to_owned(), source }];
    for asked in [asked, request("busy")] {
        let (heard, _) = ask(&config, &asked).await;
        assert!(heard.last().unwrap().contains("No room for"), "{heard:?}");
    }
    assert_eq!(backend.taken().len(), 3, "who takes no picture is not asked");
}

#[tokio::test]
async fn a_server_that_can_not_read_what_it_sealed_itself_is_asked_once_more_without() {
    let backend = Backend::start(answers).await;
    let config = configured(&file(backend.port), &[("CLEVER_KEY", KEY)]).unwrap();
    let url = format!("http://127.0.0.1:{}", backend.port);
    let target = Target::new(Vendor::find("anthropic").unwrap(), &url, "claude", serde_json::Map::new(), Some(KEY));
    let thought = json!({ "type": "content_block_start", "index": 0,
        "content_block": { "type": "thinking", "thinking": "Hm.", "signature": "STALE" } });
    let mut decoder = target.decoder(&request("clever"));
    decoder
        .push(format!("data: {thought}\n\n{}", "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n").as_bytes());
    let sealed = std::iter::from_fn(|| decoder.next()).find_map(|event| match event {
        ModelEvent::ReasoningEncrypted(value) => Some(value),
        _ => None,
    });
    let parts = vec![Part::Reasoning { text: "Hm.".to_owned(), encrypted_value: sealed }, Part::text("Yes.")];
    let answer = AssistantMessage { id: MessageId::from("a"), parts, status: MessageStatus::Complete };
    let mut asked = request("clever");
    asked.messages.extend([Message::Assistant(answer), asked.messages[0].clone()]);
    let (heard, _) = ask(&config, &asked).await;
    assert!(heard.contains(&"text Anthropic.".to_owned()), "{heard:?}");
    let sent = backend.taken();
    assert_eq!(sent.iter().map(|one| one.body.contains("STALE")).collect::<Vec<_>>(), [true, false]);
    assert!(sent[1].body.contains("Yes."), "what it said goes back all the same");
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let backend = Backend::start(answers).await;
    let alone = format!("[[model]]\nmodel = \"m\"\nurl = \"http://127.0.0.1:{}/page\"\n", backend.port);
    let (heard, _) = ask(&configured(&alone, &[]).unwrap(), &request("m")).await;
    assert!(heard.last().unwrap().contains("answered with a web page (text/html)"), "{heard:?}");
    let home = format!("{alone}fallback = [\"home\"]\n{}", file(backend.port));
    let config = configured(&home, &[("CLEVER_KEY", KEY)]).unwrap();
    assert!(ask(&config, &request("m")).await.0.contains(&"text Ollama.".to_owned()));
}

#[tokio::test]
async fn a_page_is_told_what_it_may_ask_for_and_never_of_a_key() {
    let backend = Backend::start(answers).await;
    let config = configured(&file(backend.port), &[("CLEVER_KEY", KEY)]).unwrap();
    assert!(!format!("{config:?}").contains(KEY));
    let door = Door::built(Gateway::builder(config.clone()));
    let models = door.get("/models").await;
    let names: Vec<&str> = models["models"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["clever", "gem", "home", "busy", "crowded", "refusing"]);
    assert_eq!(models["models"][0]["label"], "Clever");
    assert!(models["models"][0]["files"].as_array().unwrap().contains(&json!("application/pdf")));
    assert_eq!(door.get("/tools").await["models"], models["models"]);
    assert!(!models.to_string().contains("127.0.0.1"), "addresses are the gateway's: {models}");
    // An error that quotes the key.
    let alone = file(backend.port).replace("fallback = [\"home\"]", "");
    let config = configured(&alone, &[("CLEVER_KEY", KEY)]).unwrap();
    let (heard, answer) = ask(&config, &request("crowded")).await;
    assert_eq!(heard.last().unwrap(), "error upstream: No room for [key].");
    assert_eq!(answer.headers["x-request-id"], "req_busy");
    assert!(!answer.text.contains(KEY));
}

#[tokio::test]
async fn a_file_that_the_model_does_not_take_is_refused_before_it_is_asked() {
    let backend = Backend::start(answers).await;
    let config = configured(&file(backend.port), &[("CLEVER_KEY", KEY)]).unwrap();
    let file = |media_type: &str| Attachment {
        name: "clip".to_owned(),
        media_type: media_type.to_owned(),
        source: Source::Data("AAAA".into()),
    };
    let with = |media_type: &str| {
        let prompt = Prompt { attachments: vec![file(media_type)], ..Prompt::from("Look.") };
        let said = Message::User(UserMessage::of(MessageId::from("m"), prompt));
        ModelRequest { messages: vec![said], ..request("clever") }
    };
    let (heard, _) = ask(&config, &with("video/mp4")).await;
    assert!(heard.last().unwrap().starts_with("error bad_request: clip is video/mp4, which Anthropic does not take"));
    assert!(backend.taken().is_empty());
    let (heard, _) = ask(&config, &with("image/png")).await;
    assert!(heard.contains(&"text Anthropic.".to_owned()));
}

#[test]
fn what_is_wrong_with_a_file_of_models_is_said_with_its_model() {
    let cases = [
        ("", "describes no [[model]]"),
        ("[[model]]\nmodel = \"m\"", "the model \"m\": url is missing"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"opnai\"", "the model \"m\": provider: \"opnai\" is not known"),
        ("[[model]]\nmodel = \"m\"\nurl = \"localhost\"", "url must begin with http"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"openai_chat\"\nkey_env = \"NONE\"", "key_env: NONE is not set"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"openai_chat\"\nkey_file = \"none\"", "key_file: "),
        ("[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nkey_env = \"A\"\nkey_file = \"b\"", "exclude each other"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nprice = { input = -1, output = 1 }", "is no price"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nkey = \"sk\"", "unknown field `key`"),
        ("[[model]]\nmodel = \"\"\nprovider = \"ollama\"", "model is empty"),
        ("[[model]]\nmodel = \"m\"\nname = \" \"\nprovider = \"ollama\"", "name is empty"),
        ("[[model]]\nmodel = \"m\"\nurl = \"http://\"", "url is no address"),
        ("[[model]]\nmodel = \"m\"\nurl = \"http://exa mple/\"", "url is no address"),
        ("[[model]]\nmodel = \"m\"\nurl = \"http://x/v1?version=3\"", "url must not have a query"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nwithout = [\"a..b\"]", "without: a name is empty"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nkey_file = \"two.txt\"", "no single word"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nkey_env = \"EMPTY\"", "EMPTY is not set"),
        ("[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nkey_env = \"TWO\"", "no single word"),
    ];
    for (file, words) in cases {
        let why = configured(file, &[("EMPTY", ""), ("TWO", "sk one")]).expect_err(file);
        assert!(why.contains(words), "{why}");
    }
    let build = |file: &str| Gateway::builder(configured(file, &[]).unwrap()).build().expect_err(file);
    let twice = "[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\n[[model]]\nmodel = \"m\"\nprovider = \"ollama\"";
    assert!(build(twice).contains("two models named \"m\""));
    let lost = "[[model]]\nmodel = \"m\"\nprovider = \"ollama\"\nfallback = [\"n\"]";
    assert!(build(lost).contains("falls back on \"n\", which is not there"));
    assert!(build(&lost.replace("\"n\"", "\"m\"")).contains("falls back on itself"));
}

#[test]
fn a_key_is_found_in_a_text_whole_and_by_its_beginning() {
    let key = Secret::new("sk-proj-0123456789abcdef".to_owned());
    for (text, expected) in [
        ("Bad sk-proj-0123456789abcdef!", "Bad [key]!"),
        ("Bad sk-proj-012345***", "Bad [key]***"),
        ("sk-proj-0 sk-proj-01 sk-proj-01", "sk-proj-0 [key] [key]"),
        ("nothing", "nothing"),
    ] {
        assert_eq!(key.redact(text), expected);
    }
    assert_eq!(Secret::new(String::new()).redact("abc"), "abc");
    assert_eq!(Secret::new("short-key".to_owned()).redact("short-ke short-key"), "short-ke [key]");
}

#[test]
fn tokens_of_the_cache_have_a_price_of_their_own() {
    let usage = Usage { input_tokens: 1_000_000, output_tokens: 0, cached_tokens: 400_000, ..Usage::default() };
    let prices = |cached| Prices { input: 1_000_000, output: 0, cached };
    assert_eq!(prices(None).of(usage), 1_000_000);
    assert_eq!(prices(Some(100_000)).of(usage), 640_000);
}

#[test]
fn the_environment_names_one_model_by_its_provider_alone() {
    let read = |variables: &[(&str, &str)]| {
        let variable =
            |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        Config::read(Vec::new(), variable).map(|config| {
            config.unwrap().models.into_iter().map(|model| model.target.vendor().name).collect::<Vec<_>>()
        })
    };
    let model = ("PAGEHAND_MODEL", "m");
    assert_eq!(read(&[]), Ok(Vec::new()));
    for (variables, expected) in [
        (vec![model, ("PAGEHAND_PROVIDER", "anthropic")], "anthropic"),
        (vec![model, ("PAGEHAND_MODEL_URL", "http://localhost:11434")], "ollama"),
        (vec![model, ("PAGEHAND_MODEL_URL", "http://localhost:11434/v1")], "ollama_openai"),
        (
            vec![model, ("PAGEHAND_MODEL_URL", "http://localhost:11434/v1"), ("PAGEHAND_PROVIDER", "ollama")],
            "ollama_openai",
        ),
        (vec![model, ("PAGEHAND_MODEL_URL", "https://api.openai.com/v1")], "openai_chat"),
        (vec![model, ("PAGEHAND_MODEL_URL", "https://models.example/v1")], "openai_compatible"),
    ] {
        assert_eq!(read(&variables), Ok(vec![expected]), "{variables:?}");
    }
    assert!(read(&[model]).unwrap_err().contains("PAGEHAND_MODEL_URL (its server) is not"));
    assert!(
        read(&[("PAGEHAND_PROVIDER", "anthropic")])
            .unwrap_err()
            .contains("PAGEHAND_PROVIDER is set, but PAGEHAND_MODEL")
    );
    assert!(read(&[("PAGEHAND_MODEL_URL", "http://x")]).unwrap_err().contains("PAGEHAND_MODEL (the model's name"));
}

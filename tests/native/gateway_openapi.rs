//! Operations of an OpenAPI document as tools.

use pagehand::gateway::{Builder, Gateway};
use serde_json::{Value, json};

use crate::gateway_support::{Backend, Door, Folder, config, json_answer};
use crate::support::root;

fn shop() -> String {
    std::fs::read_to_string(root().join("tests/fixtures/gateway/shop.yaml")).expect("the fixture")
}

fn builder(folder: &Folder, document: &str, text: &str) -> Builder {
    folder.write("shop.yaml", document);
    let mut setup = config();
    setup.tools = Some(folder.write("tools.toml", text));
    Gateway::builder(setup).variables(|name| (name == "SHOP_KEY").then(|| "canary-0penap1".to_owned()))
}

fn block(port: u16, more: &str) -> String {
    format!(
        "allowHosts = [\"127.0.0.1:{port}\"]\n[[openapi]]\ndocument = \"shop.yaml\"\nowner = \"shop\"\n\
         headers = {{ authorization = \"Bearer {{env.SHOP_KEY}}\" }}\n{more}\n"
    )
}

async fn tool_of(door: &Door, name: &str) -> Value {
    let listed = door.get("/tools").await;
    let found = listed["tools"].as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == name));
    found.unwrap_or_else(|| panic!("no {name} in {listed}")).clone()
}

#[tokio::test]
async fn an_operation_becomes_a_definition() {
    let folder = Folder::new();
    let text = block(9, "allow = [\"getOrder\", \"removeOrder\", \"replaceOrder\", \"createOrder\", \"bulk-orders\"]");
    let door = Door::built(builder(&folder, &shop(), &text));
    let names: Vec<Value> =
        door.get("/tools").await["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(
        names,
        ["bulk_orders", "create_order", "get_order", "remove_order", "replace_order"],
        "only what is allowed"
    );

    let get = tool_of(&door, "get_order").await;
    let expected = json!({
        "type": "object", "required": ["orderId"], "additionalProperties": false,
        "properties": {
            "orderId": { "type": "string", "maxLength": 20, "examples": ["A-1042"], "description": "The order's id." },
            "X-Trace": { "type": "string" },
            "expand": { "type": "array", "items": { "type": "string", "enum": ["lines", "customer"] },
                "description": "What else to return." },
        },
    });
    assert_eq!(get["parameters"], expected);
    for (field, value) in [
        ("version", json!("2.1")),
        ("owner", json!("shop")),
        ("risk", json!("read")),
        ("replay", json!("pure")),
        ("scope", json!("server")),
        ("label", json!("Reads an order")),
        (
            "description",
            json!("Reads an order. Use it to see one order of the shop with its lines. Returns the order."),
        ),
    ] {
        assert_eq!(get[field], value, "{field}");
    }
    let create = tool_of(&door, "create_order").await;
    let expected = json!({
        "customer": { "type": "string", "description": "The customer's id." },
        "total": { "type": "number", "exclusiveMinimum": 0 },
        "coupon": { "type": ["string", "null"], "enum": ["SPRING", "FALL", null] },
        "parent": { "anyOf": [{ "allOf": [{ "type": "string" }] }, { "type": "null" }] },
    });
    assert_eq!((&create["parameters"]["properties"], &create["risk"]), (&expected, &json!("write")));
    assert_eq!(create["parameters"]["required"], json!(["customer", "total"]), "what the server writes is no argument");
    assert_eq!(tool_of(&door, "remove_order").await["risk"], "irreversible");
    assert_eq!(tool_of(&door, "bulk_orders").await["parameters"]["required"], json!(["body"]));
}

#[tokio::test]
async fn a_call_is_sent_as_the_document_says() {
    // (operation, arguments, what is sent, its body)
    let cases = [
        (
            "get_order",
            json!({ "orderId": "A 1", "expand": ["lines", "customer"], "X-Trace": "t1" }),
            "GET /v2/orders/A%201?expand%5B%5D=lines&expand%5B%5D=customer",
            Value::Null,
        ),
        ("remove_order", json!({ "orderId": "A-1" }), "DELETE /v2/orders/A-1", Value::Null),
        (
            "replace_order",
            json!({ "orderId": "A-1", "customer": "C", "total": 5 }),
            "PUT /v2/orders/A-1",
            json!({ "customer": "C", "total": 5 }),
        ),
        (
            "create_order",
            json!({ "customer": "C", "total": 5, "coupon": null }),
            "POST /v2/orders",
            json!({ "customer": "C", "total": 5, "coupon": null }),
        ),
        (
            "bulk_orders",
            json!({ "body": [{ "customer": "C", "total": 5 }] }),
            "POST /v2/bulk",
            json!([{ "customer": "C", "total": 5 }]),
        ),
    ];
    let backend = Backend::start(|_| json_answer(200, &json!("done"))).await;
    let folder = Folder::new();
    let more = format!(
        "baseUrl = \"http://127.0.0.1:{}/v2/\"\nallow = [\"getOrder\", \"removeOrder\", \"replaceOrder\", \"createOrder\", \"bulk-orders\"]",
        backend.port
    );
    let door = Door::built(builder(&folder, &shop(), &block(backend.port, &more)));
    for (name, arguments, sent, body) in cases {
        assert_eq!(door.call(name, &arguments).await, json!({ "result": "done" }), "{name}");
        let [seen] = backend.taken().try_into().expect("one request");
        assert_eq!(format!("{} {}", seen.method, seen.path), sent);
        assert_eq!(serde_json::from_str::<Value>(&seen.body).unwrap_or_default(), body, "{name}");
        assert_eq!(seen.headers["authorization"], "Bearer canary-0penap1");
        assert_eq!(seen.headers.get("x-trace").is_some(), name == "get_order");
        let kind = match name {
            "create_order" => Some("application/json; charset=utf-8"),
            "replace_order" | "bulk_orders" => Some("application/json"),
            _ => None,
        };
        assert_eq!(seen.headers.get("content-type").and_then(|kind| kind.to_str().ok()), kind, "{name}");
    }
    let hostile = door.call("get_order", &json!({ "orderId": "../bulk" })).await;
    assert_eq!(hostile["error"]["code"], "invalid_arguments");
    assert!(backend.taken().is_empty());
}

#[tokio::test]
async fn what_is_said_beside_the_document_stands() {
    let folder = Folder::new();
    let more = "[openapi.allow.getOrder]\nname = \"order_read\"\ndescription = \"Reads one order of the shop by its id, for a clerk. Returns it.\"\n\
        risk = \"write\"\napproval = \"always\"\nprofiles = [\"clerk\"]\ntimeoutMs = 5000\nlabel = { en = \"Order\", de = \"Auftrag\" }\n\
        requires = { role = [\"clerk\"] }\n[openapi.allow.createOrder]\n";
    let door = Door::built(builder(&folder, &shop(), &block(9, more)));
    let read = tool_of(&door, "order_read").await;
    assert_eq!(
        (&read["risk"], &read["approval"], &read["profiles"]),
        (&json!("write"), &json!("always"), &json!(["clerk"]))
    );
    assert_eq!((&read["label"]["de"], &read["timeoutMs"]), (&json!("Auftrag"), &json!(5000)));
    assert_eq!(
        door.call("order_read", &json!({ "orderId": "A" })).await["error"]["code"],
        "refused",
        "requires counts"
    );
    assert_eq!(tool_of(&door, "create_order").await["approval"], "risk");
}

#[tokio::test]
async fn what_can_not_be_a_tool_is_refused_in_a_sentence() {
    let json = r#"{"openapi":"3.1.0","info":{"version":"1"},"paths":{}}"#;
    let bomb = {
        let mut text = "openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let list = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{list}]\n"));
        }
        text
    };
    let shop = shop();
    // (document, what is allowed, words)
    let cases = [
        (shop.as_str(), "allow = [\"uploadPicture\"]", "multipart/form-data; only JSON"),
        (&shop, "allow = [\"saveTree\"]", "holds itself"),
        (&shop, "allow = [\"deepSearch\"]", "style deepObject"),
        (&shop, "allow = [\"farAway\"]", "leads out of the document"),
        (&shop, "allow = [\"tooShort\"]", "the description has 6 characters"),
        (&shop, "allow = [\"noSuchThing\"]", "no operation \"noSuchThing\"; there are: bulk-orders, createOrder"),
        (&shop, "allow = []", "allow must name the operations"),
        (&shop, "", "allow must name the operations"),
        (&shop, "allow = \"*\"", "allow must name the operations"),
        (&shop, "allow = [\"getOrder\"]\nbaseUrl = \"http://10.0.0.1/\"", "inside of a network"),
        (&shop, "allow = [\"getOrder\"]\nbaseUrl = \"/v2\"", "no whole address"),
        (&shop, "allow = [\"getOrder\"]\nprefix = \"x\"", "\"prefix\""),
        (&shop, "[openapi.allow.getOrder]\nscope = \"browser\"", "its scope comes from the document"),
        (&shop, "[openapi.allow.getOrder]\naproval = \"always\"", "did you mean \"approval\""),
        (&shop, "[openapi.allow.createOrder]\napproval = \"tool\"", "can not ask the user"),
        (&shop, "[openapi.allow.createOrder]\nlongRunning = true", "does not go on after its answer"),
        (json, "allow = [\"getOrder\"]", "no operation"),
        ("swagger: '2.0'", "allow = [\"getOrder\"]", "Swagger 2"),
        ("openapi: 3.0.0\na: b: c", "allow = [\"getOrder\"]", "no YAML"),
        ("openapi: 3.0.0\na: 1\na: 2", "allow = [\"getOrder\"]", "stands twice"),
        ("openapi: 3.0.0\na: !ruby/object x", "allow = [\"getOrder\"]", "says nothing to JSON"),
        ("openapi: 3.0.0\n? [a]\n: b", "allow = [\"getOrder\"]", "a key is no text"),
        (&bomb, "allow = [\"getOrder\"]", "more than 1000000 values"),
        ("", "allow = [\"getOrder\"]", "document"),
    ];
    for (document, more, words) in cases {
        let folder = Folder::new();
        let built = builder(&folder, document, &block(9, more)).build();
        let why = built.err().unwrap_or_else(|| panic!("{more} was taken"));
        assert!(why.contains(words), "{more}: {why}");
        assert!(why.contains("tools.toml") && !why.contains("canary"), "{why}");
    }
}

#[tokio::test]
async fn a_document_of_3_1_in_json_is_read_as_json_schema() {
    let document = json!({
        "openapi": "3.1.0", "info": { "version": 3 }, "servers": [{ "url": "https://api.example.com/" }],
        "paths": { "/a/{id}.json": {
            "servers": [{ "url": "https://other.example.com/base" }],
            "patch": {
                "operationId": "patchThing", "description": "Changes a thing a little. Use it for one field. Returns the thing.",
                "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": ["string", "integer"] } }],
                "requestBody": { "content": { "application/merge-patch+json": { "schema": {
                    "type": "object", "required": ["size"],
                    "properties": { "size": { "$ref": "#/components/schemas/Size", "description": "How large." } } } } } },
            } } },
        "components": { "schemas": { "Size": { "type": "integer", "exclusiveMinimum": 0, "examples": [5], "example": 4 } } },
    });
    let folder = Folder::new();
    folder.write("shop.json", &document.to_string());
    let text = block(9, "allow = [\"patchThing\"]").replace("shop.yaml", "shop.json");
    let door = Door::built(builder(&folder, "", &text));
    let patch = tool_of(&door, "patch_thing").await;
    let size = json!({ "type": "integer", "exclusiveMinimum": 0, "examples": [5], "description": "How large." });
    let expected = json!({
        "type": "object", "required": ["id"], "additionalProperties": false,
        "properties": {
            "id": { "type": ["string", "integer"] },
            "body": { "type": "object", "required": ["size"], "properties": { "size": size } },
        },
    });
    assert_eq!(patch["parameters"], expected, "what may be left out as a whole stays one argument");
    assert_eq!((&patch["version"], &patch["risk"]), (&json!("3"), &json!("write")));
}

#[tokio::test]
async fn a_header_of_the_connections_own_is_never_an_argument() {
    let operation = |required: bool| {
        let headers: Vec<Value> = [
            "Host",
            "Cookie",
            "content-length",
            "Connection",
            "Transfer-Encoding",
            "Proxy-Authorization",
        ]
        .iter()
        .map(|name| json!({ "name": name, "in": "header", "required": required, "schema": { "type": "string" } }))
        .collect();
        json!({
            "openapi": "3.0.3", "info": { "title": "x", "version": "1" }, "servers": [{ "url": "http://127.0.0.1:9" }],
            "paths": { "/a": { "get": {
                "operationId": "getThing", "summary": "Gets the thing that everybody has been talking about all day.",
                "parameters": headers, "responses": {},
            } } },
        })
        .to_string()
    };
    let folder = Folder::new();
    let door = Door::built(builder(&folder, &operation(false), &block(9, "allow = [\"getThing\"]")));
    assert_eq!(tool_of(&door, "get_thing").await["parameters"]["properties"], json!({}));
    let folder = Folder::new();
    let why =
        builder(&folder, &operation(true), &block(9, "allow = [\"getThing\"]")).build().expect_err("it is refused");
    assert_eq!(why.matches("it is a header that is not for a tool to set").count(), 6, "{why}");
}

//! Where a tool runs: what its registration says, and nothing else. The whole loop over a scripted network.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;
use leptos::prelude::Owner;
use pagehand::browser::sleep;
use pagehand::browser::tools::BrowserTool;
use pagehand::protocol::{CallState, EndReason, Event, Outcome, Risk, Scope};
use pagehand::tools::Definition;
use pagehand::ui::{App, Options};
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::fake::{Asked, Network};
use crate::support::mounted::results_in;
use crate::support::stream::{calling, saying};
use crate::support::{Place, definition, fresh_name, listing, until, until_so};

/// A thread with a gateway that serves some tools, and a page that ran some.
struct Scene {
    network: Network,
    app: App,
    events: Rc<RefCell<Vec<Event>>>,
    ran: Rc<RefCell<Vec<String>>>,
    owner: Owner,
    _place: Place,
}

impl Scene {
    /// A thread whose gateway has not answered yet.
    fn opening() -> Self {
        // Refused where another test did it, which is as good.
        let _ = any_spawner::Executor::init_wasm_bindgen();
        let network = Network::install();
        let (place, owner, events) = (Place::new(), Owner::new(), Rc::<RefCell<Vec<Event>>>::default());
        let heard = Rc::clone(&events);
        let options = Options {
            gateway: "/".to_owned(),
            instructions: "Be brief.".to_owned(),
            name: fresh_name(),
            ..Options::default()
        };
        let watcher = Rc::new(move |event: &Event| heard.borrow_mut().push(event.clone()));
        let app = owner.with(|| App::open(&place.0, options, watcher));
        Self { network, app, events, ran: Rc::default(), owner, _place: place }
    }

    /// A thread whose gateway serves these tools.
    async fn serving(tools: &[Definition]) -> Self {
        let scene = Self::opening();
        scene.network.asked("/tools").await.answer_json(200, &listing(tools));
        until_so("the gateway's tools", || !scene.app.store.agent.now().label.is_empty()).await;
        scene
    }

    async fn notices(&self, words: &str) {
        until_so(words, || self.app.store.tools_notice.now().is_some_and(|notice| notice.contains(words))).await;
    }

    /// A tool of the page that writes down that it ran and answers after a while.
    fn page_tool(&self, name: &str, answers_after_ms: u64) -> BrowserTool {
        let (ran, name) = (Rc::clone(&self.ran), name.to_owned());
        Rc::new(move |arguments, _| {
            ran.borrow_mut().push(name.clone());
            let answer = Outcome::Result(json!({ "page": arguments }));
            async move {
                sleep(answers_after_ms).await;
                answer
            }
            .boxed_local()
        })
    }

    async fn calls(&self, calls: &[(&str, &str, Value)]) {
        self.app.send("Do it.");
        self.network.asked("/agent").await.answer_text(200, "{}", &calling(calls));
    }

    async fn next_request(&self) -> Asked {
        self.network.asked("/agent").await
    }

    /// How the run ended.
    async fn ended(&self) -> EndReason {
        until("the end of the run", || {
            self.events.borrow().iter().find_map(|event| match event {
                Event::RunEnd { reason, .. } => Some(reason.clone()),
                _ => None,
            })
        })
        .await
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.app.close();
        self.owner.cleanup();
    }
}

fn server_tool(name: &str) -> Definition {
    definition(name, Scope::Server, Risk::Read)
}

#[test]
async fn a_tool_of_the_page_runs_in_the_page_and_not_over_the_network() {
    let scene = Scene::serving(&[]).await;
    let tool = scene.page_tool("page_look", 0);
    scene.app.register(definition("page_look", Scope::Browser, Risk::Read), tool).unwrap();
    scene.calls(&[("c1", "page_look", json!({ "at": 1 }))]).await;
    let request = scene.next_request().await;
    assert_eq!(results_in(&request).await, [json!({ "page": { "at": 1 } })]);
    assert_eq!(*scene.ran.borrow(), ["page_look"]);
    assert_eq!(scene.network.count("/tools/page_look").await, 0);
    request.answer_text(200, "{}", &saying("Done."));
    assert_eq!(scene.ended().await, EndReason::Completed);
}

#[test]
async fn a_tool_of_the_server_runs_over_the_network_and_not_in_the_page() {
    let scene = Scene::serving(&[server_tool("order_status")]).await;
    scene.calls(&[("c1", "order_status", json!({ "id": "A-1" }))]).await;
    let asked = scene.network.asked("/tools/order_status").await;
    assert_eq!(asked.json().await["arguments"], json!({ "id": "A-1" }));
    asked.answer_json(200, &json!({ "result": "sent" }));
    assert_eq!(results_in(&scene.next_request().await).await, [json!("sent")]);
    assert!(scene.ran.borrow().is_empty());
}

#[test]
async fn calls_of_both_scopes_run_at_once_and_answer_in_call_order() {
    let scene = Scene::serving(&[server_tool("order_status"), server_tool("order_search")]).await;
    let tool = scene.page_tool("page_look", 60);
    scene.app.register(definition("page_look", Scope::Browser, Risk::Read), tool).unwrap();
    scene
        .calls(&[
            ("c1", "order_status", json!({ "n": 1 })),
            ("c2", "page_look", json!({ "n": 2 })),
            ("c3", "order_search", json!({ "n": 3 })),
        ])
        .await;
    let first = scene.network.asked("/tools/order_status").await;
    let third = scene.network.asked("/tools/order_search").await;
    assert_eq!(*scene.ran.borrow(), ["page_look"], "all three are at work before any has answered");
    third.answer_json(200, &json!({ "result": "third" }));
    sleep(90).await;
    assert_eq!(scene.network.count("/agent").await, 1, "the model waits for every result");
    first.answer_json(200, &json!({ "result": "first" }));
    let results = results_in(&scene.next_request().await).await;
    assert_eq!(results, [json!("first"), json!({ "page": { "n": 2 } }), json!("third")]);
}

#[test]
async fn a_page_tool_that_claims_to_be_the_servers_still_runs_in_the_page() {
    let scene = Scene::serving(&[]).await;
    let tool = scene.page_tool("page_look", 0);
    scene.app.register(definition("page_look", Scope::Server, Risk::Read), tool).unwrap();
    scene.calls(&[("c1", "page_look", json!({}))]).await;
    scene.next_request().await;
    assert_eq!(*scene.ran.borrow(), ["page_look"]);
    assert_eq!(scene.network.count("/tools/page_look").await, 0);
}

#[test]
async fn a_gateways_tool_that_claims_to_be_the_pages_is_not_taken() {
    let scene = Scene::serving(&[definition("page_trick", Scope::Browser, Risk::Read)]).await;
    scene.notices("its definition says browser, its executor runs in the server").await;
    assert!(scene.app.registry().get("page_trick").is_none());
}

#[test]
async fn the_model_is_told_of_the_tools_of_both_sides_and_of_the_page() {
    let scene = Scene::serving(&[server_tool("order_status")]).await;
    scene.app.send("Hello");
    let request = scene.next_request().await.json().await;
    let tools = request["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"navigate") && names.contains(&"order_status"), "{names:?}");
    assert!(tools.iter().all(|tool| tool.get("scope").is_none()), "where a tool runs is no matter of the model's");
    assert!(request["context"].to_string().contains(&web_sys::window().unwrap().location().href().unwrap()));
    assert_eq!(request["messages"][0], json!({ "id": "instructions", "role": "system", "content": "Be brief." }));
}

#[test]
async fn a_name_nobody_registered_is_answered_without_running_anything() {
    let scene = Scene::serving(&[server_tool("order_status")]).await;
    scene.calls(&[("c1", "order_stats", json!({}))]).await;
    let result = results_in(&scene.next_request().await).await.remove(0);
    assert_eq!(result["code"], "unknown_tool");
    assert!(result["message"].as_str().unwrap().contains("order_status"), "{result}");
    assert_eq!(scene.network.count("/tools/order_stats").await, 0);
}

#[test]
async fn stop_lets_go_of_a_server_tool_and_of_the_model() {
    let scene = Scene::serving(&[server_tool("order_status")]).await;
    scene.calls(&[("c1", "order_status", json!({}))]).await;
    let tool = scene.network.asked("/tools/order_status").await;
    scene.app.stop();
    until_so("the tool's abort", || tool.is_aborted()).await;
    assert_eq!(scene.ended().await, EndReason::Stopped);
    let cancelled = |event: &Event| matches!(event, Event::Call(view) if view.state == CallState::Cancelled);
    assert!(scene.events.borrow().iter().any(cancelled));

    scene.app.send("And again.");
    let model = scene.next_request().await;
    scene.app.stop();
    until_so("the model's abort", || model.is_aborted()).await;
}

#[test]
async fn a_gateway_that_comes_up_late_brings_its_tools_with_the_first_message() {
    let scene = Scene::opening();
    scene.network.asked("/tools").await.fail();
    scene.notices("can not be reached").await;

    scene.app.send("Hello");
    scene.network.asked("/tools").await.answer_json(200, &listing(&[server_tool("order_status")]));
    let request = scene.next_request().await.json().await;
    assert!(request["tools"].to_string().contains("order_status"));
    assert_eq!(scene.app.store.tools_notice.now(), None);
}

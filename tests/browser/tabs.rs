//! One thread in two places: one runs it, the other follows, and takes over.

use pagehand::browser::{Claim, Lock, now, sleep};
use pagehand::protocol::Scope;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::database::Fault;
use crate::support::fake::{Network, evaluate};
use crate::support::mounted::{Mounted, text_of};
use crate::support::stream::{call, calling, finished, frame, saying, started, text, text_end, text_start};
use crate::support::{definition, fresh_name, listing, until_so};

const ELSEWHERE: &str = "This conversation is open in another tab.";

/// A second panel of the same thread, once it follows.
async fn follower(network: &Network, owner: &Mounted) -> Mounted {
    let panel = Mounted::waiting(&owner.name);
    network.asked("/tools").await.answer_json(200, &listing(&[]));
    panel.reads(".banner[role=status]", ELSEWHERE).await;
    panel
}

async fn owns(panel: &Mounted) {
    until_so("the panel to have the thread", || {
        panel.find("[part=take-over]").is_none() && !panel.all("[part=user-message]").is_empty()
    })
    .await;
}

// ---- the lock ----

#[test]
async fn one_holds_the_lock_and_the_next_waits_for_it() {
    let name = fresh_name();
    let first = Claim::new(&name, false).unwrap().granted().await;
    let mut second = Claim::new(&name, false).unwrap();
    assert!(!within(50, &mut second).await, "somebody has it");
    drop(first);
    assert!(!second.granted().await.is_none());
}

#[test]
async fn a_lock_that_is_taken_away_says_so() {
    let name = fresh_name();
    let mut first = Claim::new(&name, false).unwrap().granted().await;
    let stolen = Claim::new(&name, true).unwrap().granted().await;
    assert!(!stolen.is_none());
    first.lost().await;
}

#[test]
async fn a_claim_that_is_dropped_stands_in_nobodys_way() {
    let name = fresh_name();
    let first = Claim::new(&name, false).unwrap().granted().await;
    drop(Claim::new(&name, false).unwrap());
    let mut third = Claim::new(&name, false).unwrap();
    drop(first);
    assert!(within(500, &mut third).await);
}

#[test]
async fn where_there_are_no_locks_nothing_is_taken_away() {
    use futures::future::{Either, select};
    let mut lock = Lock::none();
    assert!(matches!(select(Box::pin(lock.lost()), sleep(30)).await, Either::Right(_)));
}

async fn within(ms: u64, claim: &mut Claim) -> bool {
    use futures::future::{Either, select};
    matches!(select(Box::pin(claim.granted()), sleep(ms)).await, Either::Left((lock, _)) if !lock.is_none())
}

// ---- the panels ----

#[test]
async fn a_second_panel_follows_the_first_word_by_word() {
    let network = Network::install();
    let (owner, body) = Mounted::being_told(&network).await;

    let other = follower(&network, &owner).await;
    other.reads("[part=user-message]", "Tell me.").await;
    other.reads(".md", "It was").await;
    body.send(&text("sent."));
    other.reads(".md", "It was sent.").await;
    assert!(other.find("[part=stop]").is_some(), "a run is at work, there");
    body.send_all(&[text_end(), finished()]);
    body.end();
    until_so("the end to be heard", || other.find("[part=stop]").is_none()).await;
    assert_eq!(other.all(".md").len(), 1);

    let body = owner.ask(&network, "And now?").await;
    body.send(&saying("Now, too."));
    body.end();
    until_so("the next run to be followed", || other.all("[part=user-message]").len() == 2).await;
    until_so("its answer", || other.all(".md").len() == 2).await;
    assert_eq!(network.count("/agent").await, 2, "only one of them asks a model");
}

#[test]
async fn what_a_run_used_up_is_shown_by_whoever_opens_the_thread() {
    let network = Network::install();
    let owner = Mounted::new(&network).await;
    let body = owner.ask(&network, "Tell me.").await;
    let counted = json!({ "usage": [{ "inputTokens": 1200, "outputTokens": 34 }] });
    let counted = frame(&json!({ "type": "CUSTOM", "name": "pagehand.usage", "value": counted }));
    body.send_all(&[started(), counted, text_start(), text("It was."), text_end(), finished()]);
    body.end();
    owner.reads(".usage", "1,200 tokens in, 34 out").await;
    let other = follower(&network, &owner).await;
    other.reads(".usage", "1,200 tokens in").await;
    other.button("Continue here").await.click();
    owns(&other).await;
    other.reads(".usage", "1,200 tokens in").await;
    other.button("New").await.click();
    until_so("the counter to be empty", || other.find(".usage").is_none_or(|line| text_of(&line).is_empty())).await;
}

#[test]
async fn a_follower_runs_no_tool_and_decides_nothing() {
    let network = Network::install();
    let mut writes = definition("note_write", Scope::Server, pagehand::protocol::Risk::Write);
    writes.label = "Write a note".into();
    let owner = Mounted::serving(&network, &[writes]).await;
    let body = owner.ask(&network, "Write.").await;
    body.send(&calling(&[("c1", "note_write", json!({}))]));
    body.end();
    owner.button("Approve").await;

    let other = follower(&network, &owner).await;
    other.reads("[part=tool-call]", "Waits for an answer in the other tab").await;
    assert!(other.find_button("Approve").is_none());
    owner.button("Approve").await.click();
    let asked = network.asked("/tools/note_write").await;
    other.the("[data-state=running]").await;
    asked.answer_json(200, &json!({ "result": { "written": true } }));
    network.asked("/agent").await.answer_text(200, "{}", &saying("Written."));
    other.reads(".md", "Written.").await;
    assert_eq!(network.count("/tools/note_write").await, 1);
}

#[test]
async fn stop_works_from_the_panel_that_follows() {
    let network = Network::install();
    let (owner, _body) = Mounted::being_told(&network).await;
    let other = follower(&network, &owner).await;
    other.part("stop").await.click();
    owner.reads(".banner", "You stopped this run.").await;
    other.reads(".banner", ELSEWHERE).await;
    until_so("the end to be heard", || other.find("[part=stop]").is_none()).await;
}

#[test]
async fn a_follower_takes_over_and_the_run_goes_on_there() {
    let network = Network::install();
    let (owner, _body) = Mounted::being_told(&network).await;
    let other = follower(&network, &owner).await;
    other.button("Continue here").await.click();
    owner.reads(".banner[role=status]", ELSEWHERE).await;
    network.asked("/agent").await.answer_text(200, "{}", &saying("It was sent."));
    other.reads(".items > :last-child .md", "It was sent.").await;
    owner.reads(".items > :last-child .md", "It was sent.").await;
    for panel in [&owner, &other] {
        panel.reads(".superseded .broken", "broke off here and was asked for again").await;
    }
    assert_eq!(network.count("/agent").await, 2);
}

#[test]
async fn writing_in_the_panel_that_follows_takes_the_thread_over() {
    let network = Network::install();
    let owner = Mounted::told(&network).await;
    let other = follower(&network, &owner).await;
    other.send("And now?");
    let asked = network.asked("/agent").await;
    let said = asked.json().await["messages"].as_array().unwrap().len();
    assert_eq!(said, 3, "the whole thread is sent, once");
    asked.answer_text(200, "{}", &saying("Now, too."));
    other.reads("[part=assistant-message]:last-of-type .md, .items > :last-child .md", "Now, too.").await;
    until_so("the first to follow", || owner.all(".md").len() == 2).await;
}

#[test]
async fn who_gave_a_thread_up_follows_the_one_who_has_it_now() {
    let network = Network::install();
    let owner = Mounted::told(&network).await;
    let other = follower(&network, &owner).await;
    let third = follower(&network, &owner).await;
    other.button("Continue here").await.click();
    owner.reads(".banner[role=status]", ELSEWHERE).await;
    owns(&other).await;
    let body = other.ask(&network, "And now?").await;
    body.send_all(&[started(), text_start(), text("Now, ")]);
    for panel in [&owner, &third] {
        panel.reads(".items > :last-child .md", "Now,").await;
        assert!(panel.find("[part=stop]").is_some());
    }
    body.send_all(&[text("too."), text_end(), finished()]);
    body.end();
    for panel in [&owner, &third] {
        panel.reads(".items > :last-child .md", "Now, too.").await;
        panel.reads(".banner[role=status]", ELSEWHERE).await;
    }
    assert_eq!(network.count("/agent").await, 2);
}

#[test]
async fn what_could_not_be_written_is_handed_over() {
    let network = Network::install();
    let owner = Mounted::told(&network).await;
    let other = follower(&network, &owner).await;
    let full = Fault::full(u32::MAX);
    let body = owner.ask(&network, "And now?").await;
    body.send(&saying("Now, too."));
    body.end();
    owner.reads(".banner", "is not being saved").await;
    other.reads(".items > :last-child .md", "Now, too.").await;
    other.button("Continue here").await.click();
    owns(&other).await;
    other.reads(".items > :last-child .md", "Now, too.").await;
    drop(full);
    until_so("it to be saved", || !text_of(&other.find(".panel").unwrap()).contains("is not being saved")).await;
    let name = owner.name.clone();
    drop((owner, other));
    let again = Mounted::waiting(&name);
    until_so("all of it", || again.all(".md").len() == 2).await;
}

fn is_left_behind(panel: &Mounted) -> bool {
    !evaluate(&format!("sessionStorage.getItem('pagehand.left:{}')", panel.instance.thread())).is_null()
}

/// The page is left, and opened once more in the same tab.
fn reloaded(panel: Mounted) -> Mounted {
    let name = panel.name.clone();
    web_sys::window().unwrap().dispatch_event(&web_sys::Event::new("pagehide").unwrap()).unwrap();
    drop(panel);
    Mounted::waiting(&name)
}

#[test]
async fn what_could_not_be_written_is_left_to_the_next_page_of_the_tab() {
    let network = Network::install();
    let panel = Mounted::told(&network).await;
    let full = Fault::full(u32::MAX);
    panel.ask(&network, "And now?").await.send_all(&[saying("Now, too.")]);
    panel.reads(".banner", "is not being saved").await;
    panel.reads(".items > :last-child .md", "Now, too.").await;
    let again = reloaded(panel);
    until_so("all of it", || again.all(".md").len() == 2).await;
    drop(full);
    until_so("it to be saved", || !text_of(&again.find(".panel").unwrap()).contains("is not being saved")).await;
    let again = reloaded(again);
    until_so("it, out of the journal", || again.all(".md").len() == 2).await;
    assert_eq!(again.all("[part=user-message]").len(), 2, "nothing is there twice");
}

async fn is_left_to_its_user_alone(nothing: Fault) {
    let network = Network::install();
    let user = |name: &str| js_sys::JSON::parse(&json!(name).to_string()).unwrap();
    let panel = Mounted::new(&network).await;
    panel.instance.set_user(&user("ann")).unwrap();
    panel.hear(&network, "Tell me.", "It was sent.").await;
    let again = reloaded(panel);
    again.instance.set_user(&user("ann")).unwrap();
    again.reads(".md", "It was sent.").await;
    let again = reloaded(again);
    again.instance.set_user(&user("bob")).unwrap();
    sleep(2_500).await;
    assert!(again.find("[aria-busy]").is_none(), "there is a thread of his own");
    assert!(again.all(".md, [part=user-message]").is_empty());
    drop(nothing);
}

#[test]
async fn a_thread_that_no_full_database_took_is_left_to_its_user_alone() {
    is_left_to_its_user_alone(Fault::full(u32::MAX)).await;
}

#[test]
async fn a_thread_without_a_database_is_left_to_its_user_alone() {
    is_left_to_its_user_alone(Fault::denied()).await;
}

async fn words_stay() {
    let network = Network::install();
    let (panel, _body) = Mounted::being_told(&network).await;
    let again = reloaded(panel);
    again.reads(".superseded .md", "It was").await;
    network.asked("/tools").await.answer_json(200, &listing(&[]));
    network.asked("/agent").await.answer_text(200, "{}", &saying("It was sent."));
    again.reads(".items > :last-child .md", "It was sent.").await;
    assert!(!is_left_behind(&again), "what is written is kept nowhere else");
    let again = reloaded(again);
    until_so("both, out of the journal", || again.all(".md").len() == 2).await;
}

#[test]
async fn where_no_thread_can_be_opened_the_next_one_outlives_a_reload() {
    let network = Network::install();
    let panel = Mounted::told(&network).await;
    let nothing = Fault::denied();
    let panel = reloaded(panel);
    panel.reads(".banner", "can not be opened").await;
    network.asked("/tools").await.answer_json(200, &listing(&[]));
    panel.hear(&network, "And now?", "Now, too.").await;
    let again = reloaded(panel);
    again.reads(".md", "Now, too.").await;
    drop(nothing);
}

#[test]
async fn what_was_written_after_all_is_left_nowhere_else() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let full = Fault::full(u32::MAX);
    panel.hear(&network, "Tell me.", "It was sent.").await;
    let again = reloaded(panel);
    again.reads(".md", "It was sent.").await;
    assert!(is_left_behind(&again));
    drop(full);
    until_so("it to be saved", || !text_of(&again.find(".panel").unwrap()).contains("is not being saved")).await;
    assert!(!is_left_behind(&again), "a page that crashes now leaves nothing that is old");
}

#[test]
async fn the_words_of_an_answer_stay_when_the_page_is_left() {
    words_stay().await;
}

#[test]
async fn the_words_of_an_answer_stay_when_the_page_is_left_where_there_are_no_locks() {
    evaluate("Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true })");
    words_stay().await;
    evaluate("delete navigator.locks");
}

#[test]
async fn the_words_of_an_answer_stay_when_the_element_goes_and_comes() {
    let network = Network::install();
    let (panel, _body) = Mounted::being_told(&network).await;
    let name = panel.name.clone();
    drop(panel);
    Mounted::waiting(&name).reads(".superseded .md", "It was").await;
}

#[test]
async fn another_users_thread_is_not_followed() {
    let network = Network::install();
    let user = |name: &str| js_sys::JSON::parse(&json!(name).to_string()).unwrap();
    let owner = Mounted::new(&network).await;
    owner.instance.set_user(&user("ann")).unwrap();
    owner.hear(&network, "Tell me.", "It was sent.").await;
    let other = Mounted::waiting(&owner.name);
    other.instance.set_user(&user("bob")).unwrap();
    until_so("a thread of his own", || other.instance.thread() != owner.instance.thread()).await;
    sleep(300).await;
    assert!(other.all("[part=user-message]").is_empty() && other.find("[part=take-over]").is_none());
}

#[test]
async fn a_thread_that_is_deleted_elsewhere_makes_room_for_a_new_one() {
    let network = Network::install();
    let owner = Mounted::told(&network).await;
    let thread = owner.instance.thread();
    let other = Mounted::waiting(&fresh_name());
    wasm_bindgen_futures::JsFuture::from(other.instance.delete_thread(thread.clone())).await.unwrap();
    owner.reads(".banner", "deleted in another tab").await;
    assert_ne!(owner.instance.thread(), thread);
    let body = owner.ask(&network, "Again.").await;
    body.send(&saying("Once more."));
    body.end();
    owner.reads(".md", "Once more.").await;
    assert_eq!(owner.all("[part=user-message]").len(), 1);
    reloaded(owner).reads(".md", "Once more.").await;
}

#[test]
async fn what_is_said_before_it_is_known_whose_thread_it_is_is_heard() {
    let network = Network::install();
    let owner = Mounted::told(&network).await;
    let other = Mounted::waiting(&owner.name);
    network.asked("/tools").await.answer_json(200, &listing(&[]));
    other.instance.send(&"And now?".into()).unwrap();
    let asked = network.asked("/agent").await;
    assert_eq!(asked.json().await["messages"].as_array().unwrap().len(), 3);
    asked.answer_text(200, "{}", &saying("Now, too."));
    until_so("the answer", || other.all(".md").len() == 2).await;
    until_so("the first to follow", || owner.all(".md").len() == 2).await;
}

#[test]
async fn a_thread_that_is_left_says_nothing_of_the_one_that_took_its_place() {
    let network = Network::install();
    let owner = Mounted::told(&network).await;
    let other = Mounted::waiting(&owner.name);
    // Before anybody knows that it is the other's.
    other.instance.new_thread();
    sleep(1200).await;
    assert!(other.find("[part=take-over]").is_none(), "the new thread is nobody else's");
    assert!(other.all("[part=user-message]").is_empty());
}

#[test]
async fn when_the_owner_goes_the_follower_has_the_thread_within_two_seconds() {
    let network = Network::install();
    let (owner, _body) = Mounted::being_told(&network).await;
    let other = follower(&network, &owner).await;
    let left = now();
    drop(owner);
    let asked = network.asked("/agent").await;
    assert!(now() - left < 2000, "it took {} ms", now() - left);
    asked.answer_text(200, "{}", &saying("It was sent."));
    other.reads(".items > :last-child .md", "It was sent.").await;
    owns(&other).await;
}

#[test]
async fn an_owner_that_does_not_answer_loses_the_thread() {
    let network = Network::install();
    let owner = Mounted::told(&network).await;
    let (name, thread) = (owner.name.clone(), owner.instance.thread());
    drop(owner);
    // A page that is frozen holds its lock and hears nothing.
    let frozen = Claim::new(&format!("pagehand:{thread}"), false).unwrap().granted().await;
    let panel = Mounted::waiting(&name);
    panel.reads(".md", "It was sent.").await;
    panel.button("Continue here").await.click();
    owns(&panel).await;
    drop(frozen);
}

#[test]
async fn a_step_that_is_taken_over_is_not_begun_anew() {
    let network = Network::install();
    let owner = Mounted::new(&network).await;
    let body = owner.ask(&network, "Ask twice.").await;
    body.send_all(&[started(), call("c1", "page_read", &json!({})), finished()]);
    body.end();
    // Its tool has run; the model is asked for the second step, which the other panel asks for again.
    network.asked("/agent").await;
    let other = follower(&network, &owner).await;
    other.button("Continue here").await.click();
    network.asked("/agent").await.answer_text(200, "{}", &saying("Read."));
    other.reads(".md", "Read.").await;
    assert_eq!(other.all("[part=tool-call]").len(), 1, "the call is there once");
}

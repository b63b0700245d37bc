//! Files that go with the next message: chosen, pasted or dropped; named, and taken out again. Knows nothing of a model.

use js_sys::Promise;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Event, File, FileList, FileReader, HtmlInputElement};

use crate::protocol::{Attachment, Source};
use crate::ui::node::{Child, Node, Place, live, node, nothing};
use crate::ui::{App, words};

// All files of a message together; what is more does not fit into a request.
const MAX_BYTES: f64 = 20.0 * 1024.0 * 1024.0;

/// The button that opens the browser's own dialog; nothing where the model takes words alone.
pub(super) fn attach_button(app: &App) -> AnyView {
    let app = app.clone();
    live(move || {
        let takes = app.store.model_info().files;
        if takes.is_empty() {
            return nothing();
        }
        let (chosen, place) = (app.clone(), Place::new());
        let accept = format!("{},text/*,application/json", takes.join(","));
        let input = node("input")
            .attr("type", "file")
            .attr("multiple", "")
            .attr("accept", accept.as_str())
            .attr("aria-label", "Files to attach")
            .attr("tabindex", "-1")
            .class("sr-only")
            .place(place)
            .on("change", move |_| {
                let Some(input) = place.get_untracked().and_then(|input| input.dyn_into::<HtmlInputElement>().ok())
                else {
                    return;
                };
                take(&chosen, input.files());
                input.set_value("");
            });
        let button = node("button")
            .attr("type", "button")
            .class("attach")
            .attr("part", "attach")
            .on("click", move |_| {
                if let Some(input) = place.get_untracked() {
                    input.click();
                }
            })
            .child("Attach");
        node("span").child(input).child(button).view()
    })
}

/// The files that wait, each with a button that takes it out.
pub(super) fn chosen_files(app: &App) -> AnyView {
    let app = app.clone();
    live(move || {
        let files = app.store.files.get();
        if files.is_empty() {
            return nothing();
        }
        let file = |(at, file): (usize, Attachment)| {
            let store = app.store.clone();
            let remove = node("button")
                .attr("type", "button")
                .class("quiet")
                .attr("aria-label", format!("Remove {}", file.name).as_str())
                .on("click", move |_| {
                    store.files.update(|files| {
                        if at < files.len() {
                            files.remove(at);
                        }
                    });
                })
                .child("Remove");
            node("li").child(words::of_file(&file)).child(remove)
        };
        let list: Vec<Node> = files.into_iter().enumerate().map(file).collect();
        node("ul").class("files").attr("aria-label", "Files that go with the message").child(list).view()
    })
}

/// Takes the files of a paste or a drop; `false` where there are none, or the model takes none.
pub(super) fn take_from(app: &App, event: &Event) -> bool {
    let carrier = ["clipboardData", "dataTransfer"]
        .into_iter()
        .find_map(|name| js_sys::Reflect::get(event, &name.into()).ok().filter(JsValue::is_object));
    let files = carrier.and_then(|carrier| js_sys::Reflect::get(&carrier, &"files".into()).ok());
    let files = files.and_then(|files| files.dyn_into::<FileList>().ok()).filter(|files| files.length() > 0);
    let wanted = files.is_some() && !app.store.model_now().files.is_empty();
    if wanted {
        take(app, files);
    }
    wanted
}

fn take(app: &App, files: Option<FileList>) {
    let Some(files) = files else { return };
    for at in 0..files.length() {
        if let Some(file) = files.get(at) {
            let app = app.clone();
            leptos::task::spawn_local(async move { take_one(&app, file).await });
        }
    }
}

async fn take_one(app: &App, file: File) {
    let model = app.store.model_now();
    let name = file.name();
    let refuse = |why: String| app.store.notice.set(Some(why));
    let media_type = match file.type_() {
        plain if plain.is_empty() => "text/plain".to_owned(),
        stated => stated,
    };
    if !takes(&model.files, &media_type) {
        return refuse(format!("{name} is {media_type}, which the model does not take."));
    }
    let waiting: usize = app.store.files.peek(|files| files.iter().filter_map(Attachment::size).sum());
    let most = if is_text(&media_type) { MAX_BYTES } else { (model.max_file_bytes as f64).min(MAX_BYTES) };
    if file.size() > most || waiting as f64 + file.size() > MAX_BYTES {
        return refuse(format!("{name} is too large: {} MB are allowed.", (most / 1_000_000.0).floor()));
    }
    let Some(data) = base64(&file).await else { return refuse(format!("{name} can not be read.")) };
    let attachment = Attachment { name, media_type, source: Source::Data(data.into()) };
    app.store.announce(format!("{} attached", words::of_file(&attachment)));
    app.store.files.update(|files| files.push(attachment));
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || media_type == "application/json"
}

fn takes(files: &[String], media_type: &str) -> bool {
    let fits = |pattern: &String| match pattern.strip_suffix('*') {
        Some(kind) => media_type.starts_with(kind),
        None => pattern == media_type,
    };
    is_text(media_type) || files.iter().any(fits)
}

// The browser writes base64 itself, as the end of a `data:` address.
async fn base64(file: &File) -> Option<String> {
    let reader = FileReader::new().ok()?;
    let loaded = Promise::new(&mut |resolve, reject| {
        reader.set_onload(Some(&resolve));
        reader.set_onerror(Some(&reject));
    });
    reader.read_as_data_url(file).ok()?;
    JsFuture::from(loaded).await.ok()?;
    let address = reader.result().ok()?.as_string()?;
    address.split_once(',').map(|(_, data)| data.to_owned())
}

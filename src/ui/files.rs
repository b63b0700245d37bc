//! Files that go with the next message: chosen, pasted or dropped; named, and taken out again. Knows nothing of a model.

use js_sys::Promise;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, Event, File, FileList, FileReader, HtmlInputElement};

use crate::protocol::{Attachment, Source};
use crate::ui::node::{Child, Node, Place, focus_on, live, node, nothing};
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
        let accept = takes.join(",");
        let input = node("input")
            .attr("type", "file")
            .attr("multiple", "")
            .attr("accept", accept)
            // The button stands for it.
            .attr("aria-hidden", "true")
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
pub(super) fn chosen_files(app: &App, area: Place) -> AnyView {
    let app = app.clone();
    live(move || {
        let files = app.store.files.get();
        if files.is_empty() {
            return nothing();
        }
        let takes = app.store.model_info().files;
        let file = |(at, file): (usize, Attachment)| {
            let store = app.store.clone();
            let remove = node("button")
                .attr("type", "button")
                .class("quiet")
                .attr("aria-label", format!("Remove {}", words::of_file(&file)))
                .on("click", move |_| {
                    let removed = store.files.update(|files| (at < files.len()).then(|| files.remove(at)));
                    if let Some(file) = removed {
                        store.announce(format!("{} removed", words::of_file(&file)));
                    }
                    // The button that had the focus is gone.
                    focus_on(area);
                })
                .child("×");
            // Another model may have been chosen since.
            let refused = (!file.is_one_of(&takes)).then(|| node("strong").child("not for this model"));
            let name = node("span").attr("title", file.name.as_str()).child(words::of_file(&file));
            node("li").child(name).child(refused).child(remove)
        };
        let list: Vec<Node> = files.into_iter().enumerate().map(file).collect();
        node("ul").class("files").attr("aria-label", "Files that go with the message").child(list).view()
    })
}

/// Whether what is dragged is files, as far as the browser says before they are dropped.
pub(super) fn brings_files(event: &Event) -> bool {
    let carrier = js_sys::Reflect::get(event, &"dataTransfer".into()).ok().filter(JsValue::is_object);
    carrier.is_some_and(|carrier| carrier.unchecked_ref::<DataTransfer>().types().includes(&"Files".into(), 0))
}

/// Takes the files of a paste or a drop; `false` where there are none, or where they are only another view of a text.
pub(super) fn take_from(app: &App, event: &Event) -> bool {
    let carrier = ["clipboardData", "dataTransfer"]
        .into_iter()
        .find_map(|name| js_sys::Reflect::get(event, &name.into()).ok().filter(JsValue::is_object));
    let files = carrier.as_ref().and_then(|carrier| js_sys::Reflect::get(carrier, &"files".into()).ok());
    let files = files.and_then(|files| files.dyn_into::<FileList>().ok()).filter(|files| files.length() > 0);
    let said = |format: &str| {
        let carrier = carrier.as_ref()?.unchecked_ref::<DataTransfer>();
        carrier.get_data(format).ok()
    };
    if let (Some(files), Some(text)) = (&files, said("text/plain"))
        && !names_files(&text, files)
        && said("text/uri-list").is_none_or(|address| address.trim() != text.trim())
    {
        return false;
    }
    let are_there = files.is_some();
    if are_there && app.store.model_now().files.is_empty() {
        app.store.notice.set(Some("The model takes no files.".to_owned()));
    } else {
        take(app, files);
    }
    are_there
}

// Whether a text beside files says no more than what they are called, a line each: a file manager puts names, paths or
// addresses there. Any other text is what was meant, and the file a picture of it: a table of cells, a page of a document.
fn names_files(text: &str, files: &FileList) -> bool {
    let names: Vec<String> = (0..files.length()).filter_map(|at| files.get(at)).map(|file| file.name()).collect();
    text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).all(|line| {
        let last = line.rsplit(['/', '\\']).next().unwrap_or(line);
        names.iter().any(|name| last == name || js_sys::encode_uri_component(name) == last)
    })
}

fn take(app: &App, files: Option<FileList>) {
    let Some(files) = files else { return };
    // The list is the input's, and is emptied by whoever called.
    let files: Vec<File> = (0..files.length()).filter_map(|at| files.get(at)).collect();
    let app = app.clone();
    app.store.reading.update(|reading| *reading += files.len());
    app.store.notice.set(None);
    // One after the other: each is measured with those before it, and they stay in their order.
    leptos::task::spawn_local(async move {
        let mut refused = Vec::new();
        for file in files {
            refused.extend(take_one(&app, file).await.err());
            app.store.reading.update(|reading| *reading -= 1);
        }
        if !refused.is_empty() {
            app.store.notice.set(Some(refused.join(" ")));
        }
    });
}

// What is wrong with a file that is not taken, in words.
async fn take_one(app: &App, file: File) -> Result<(), String> {
    let model = app.store.model_now();
    let name = file.name();
    let none = Source::Url(String::new());
    let mut attachment = Attachment { name: name.clone(), media_type: type_of(&file), source: none };
    if !attachment.is_one_of(&model.files) {
        return Err(format!("{name} is {}, which the model does not take.", attachment.media_type));
    }
    let waiting: usize = app.store.files.peek(|files| files.iter().filter_map(Attachment::size).sum());
    let most = if attachment.is_text() { MAX_BYTES } else { (model.max_file_bytes as f64).min(MAX_BYTES) };
    if file.size() > most || waiting as f64 + file.size() > MAX_BYTES {
        return Err(format!("{name} is too large: {} MB are allowed.", (most / 1_000_000.0).floor()));
    }
    let data = base64(&file).await.ok_or_else(|| format!("{name} can not be read."))?;
    attachment.source = Source::Data(data.into());
    app.store.announce(format!("{} attached", words::of_file(&attachment)));
    app.store.files.update(|files| files.push(attachment));
    Ok(())
}

// A browser knows few types by themselves, and takes some of them for something else; of what people attach these are texts.
const TEXT_NAMES: [&str; 38] = [
    "txt", "md", "csv", "tsv", "log", "json", "yaml", "yml", "toml", "ini", "xml", "html", "css", "scss", "js", "jsx",
    "mjs", "ts", "tsx", "vue", "py", "rs", "go", "java", "kt", "swift", "rb", "php", "c", "h", "cpp", "hpp", "cs",
    "sh", "sql", "diff", "env", "conf",
];

fn type_of(file: &File) -> String {
    let stated = file.type_();
    let name = file.name().to_ascii_lowercase();
    let is_text = match name.rsplit_once('.') {
        Some((_, end)) => TEXT_NAMES.contains(&end),
        None => matches!(name.as_str(), "dockerfile" | "makefile" | "license" | "readme"),
    };
    match stated.as_str() {
        "" if !is_text => "application/octet-stream".to_owned(),
        _ if is_text && !stated.starts_with("text/") => "text/plain".to_owned(),
        _ => stated,
    }
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

// "/help?q=": the staff's articles, by section.

import * as api from "../api.js";
import { h } from "../dom.js";
import { count } from "../format.js";
import { empty, heading, searchForm } from "./parts.js";

export const helpRoute = {
  path: "/help",
  section: "help",
  load: ({ query }, signal) => api.articles({ q: query.get("q") ?? "" }, signal),
  view({ items }, { query }) {
    const notice = count(items.length, "article");
    return {
      title: "Help",
      notice,
      body: h("div", { class: "stack" },
        heading("Help", { below: notice }),
        searchForm({ action: "/help", label: "Search help", q: query.get("q") ?? "", hint: "Returns, shipping, …" }),
        items.length
          ? sections(items).map(([name, articles]) => section(name, articles))
          : h("div", { class: "card" },
              empty("No article matches.", h("p", null, h("a", { href: "/help" }, "Show all articles"))))),
    };
  },
};

function section(name, articles) {
  return h("section", { class: "card" },
    h("h2", null, name),
    h("ul", { class: "articles" }, articles.map(({ slug, title, summary }) =>
      h("li", null,
        h("a", { href: `/help/${encodeURIComponent(slug)}` }, title),
        h("p", { class: "faint" }, summary)))));
}

/** In the order the sections first come up. */
function sections(items) {
  const found = new Map();
  for (const item of items) found.set(item.section, [...(found.get(item.section) ?? []), item]);
  return [...found];
}

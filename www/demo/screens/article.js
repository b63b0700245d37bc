// "/help/returns-policy": one article as plain paragraphs. Markup in it would be shown as text.

import * as api from "../api.js";
import { h } from "../dom.js";
import { heading } from "./parts.js";

export const articleRoute = {
  path: "/help/:slug",
  section: "help",
  load: ({ params }, signal) => api.article(params.slug, signal),
  view: ({ title, section, body }) => ({
    title,
    body: h("article", { class: "stack" },
      heading(title, { above: h("a", { href: "/help" }, "Help"), below: section }),
      h("div", { class: "card prose" }, paragraphs(body).map((text) => h("p", null, text)))),
  }),
};

function paragraphs(body) {
  return body.split(/\r?\n\s*\r?\n/).map((text) => text.trim()).filter(Boolean);
}

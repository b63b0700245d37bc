// Pieces that several screens share: heading, badge, tables, pager, search. Plain functions from data to nodes.

import { address } from "../api.js";
import { h, s } from "../dom.js";
import { capital, count, day, money, number } from "../format.js";

/** The h1 takes the focus after a navigation, hence the tabindex. `extra` stands beside it. */
export function heading(text, { above, extra, below } = {}) {
  return h("header", { class: "screen-head" },
    above && h("p", { class: "crumb" }, above),
    h("div", { class: "screen-title" }, h("h1", { tabindex: -1 }, text), extra),
    below && h("p", { class: "screen-sub" }, below));
}

export function statusBadge(status) {
  return h("span", { class: "badge", "data-status": status }, capital(status));
}

export function time(iso, write) {
  return h("time", { datetime: iso }, write(iso));
}

export function orderLink(id) {
  return h("a", { href: `/orders/${encodeURIComponent(id)}`, class: "nowrap" }, id);
}

export function customerLink({ id, name }) {
  return h("a", { href: `/customers/${encodeURIComponent(id)}` }, name);
}

/**
 * columns: [{ title, cell(row) → node or text, number?, wide?, head? }]
 *   number  aligned to the end   wide  left out where there is little room   head  the row's heading
 */
export function table(caption, columns, rows) {
  const classes = ({ number: numeric, wide }) => [numeric && "num", wide && "wide"].filter(Boolean).join(" ") || null;
  return h("div", { class: "table-frame" },
    h("table", null,
      h("caption", { class: "visually-hidden" }, caption),
      h("thead", null,
        h("tr", null, columns.map((column) => h("th", { scope: "col", class: classes(column) }, column.title)))),
      h("tbody", null, rows.map((row) =>
        h("tr", null, columns.map((column) => column.head
          ? h("th", { scope: "row", class: classes(column) }, column.cell(row))
          : h("td", { class: classes(column) }, column.cell(row))))))));
}

export function ordersTable(caption, rows, { customer = true } = {}) {
  return table(caption, [
    { title: "Order", cell: (row) => orderLink(row.id), head: true },
    ...(customer ? [{ title: "Customer", cell: (row) => customerLink(row.customer) }] : []),
    { title: "Placed", cell: (row) => time(row.placed_at, day), wide: customer },
    { title: "Items", cell: (row) => number(row.items), number: true, wide: true },
    { title: "Status", cell: (row) => statusBadge(row.status) },
    { title: "Total", cell: (row) => money(row.total_cents, row.currency), number: true },
  ], rows);
}

export function empty(text, ...more) {
  return h("div", { class: "empty" }, h("p", null, text), more);
}

export function panel(title, ...children) {
  return h("section", { class: "card" }, title && h("h2", null, title), children);
}

/** pairs: [[term, node or text]]; a pair with nothing to say is left out. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value))));
}

/** A GET form that the router takes over; without scripts it would be an ordinary search. */
export function searchForm({ action, label, q, hint }, ...fields) {
  return h("form", { class: "filters", role: "search", action, method: "get", "aria-label": label },
    fields,
    h("div", { class: "field grow" },
      h("label", { for: "filter-q" }, "Search"),
      h("input", { id: "filter-q", name: "q", type: "search", value: q, placeholder: hint, autocomplete: "off" })),
    h("button", { class: "button", type: "submit", id: "filter-go" }, searchIcon(), "Search"));
}

/** `path` and `query` are the list's address without its page. */
export function pager({ page, pages }, path, query) {
  if (pages <= 1) return null;
  const to = (target) => address(path, { ...query, page: target > 1 ? target : "" });
  const step = (target, text, rel) => target >= 1 && target <= pages
    ? h("a", { href: to(target), rel, class: "pager-step" }, text)
    : h("span", { class: "pager-step off", "aria-hidden": "true" }, text);
  return h("nav", { class: "pager", "aria-label": "Pages" },
    step(page - 1, "Previous", "prev"),
    h("ol", null, nearby(page, pages).map((target) => h("li", null, target === null
      ? h("span", { class: "gap", "aria-hidden": "true" }, "…")
      : h("a", {
          href: to(target),
          "aria-label": `Page ${target}`,
          "aria-current": target === page ? "page" : null,
        }, target)))),
    step(page + 1, "Next", "next"));
}

/** 5 of 9 → [1, null, 4, 5, 6, null, 9]; null is a gap. */
function nearby(page, pages) {
  const kept = [...new Set([1, page - 1, page, page + 1, pages])]
    .filter((target) => target >= 1 && target <= pages)
    .sort((a, b) => a - b);
  return kept.flatMap((target, index) => {
    const missing = target - (kept[index - 1] ?? 0) - 1;
    if (missing === 0) return [target];
    return missing === 1 ? [target - 1, target] : [null, target];
  });
}

/** "41 orders", or "41 orders, page 2 of 3" */
export function extent({ total, page, pages }, noun) {
  return count(total, noun) + (pages > 1 ? `, page ${page} of ${pages}` : "");
}

/** The page number of an address; nonsense is page 1. */
export function pageOf(query) {
  const page = Number.parseInt(query.get("page") ?? "1", 10);
  return page > 0 ? page : 1;
}

function searchIcon() {
  return s("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    s("circle", { cx: 7, cy: 7, r: 4.5 }),
    s("path", { d: "m10.5 10.5 3.5 3.5" }));
}

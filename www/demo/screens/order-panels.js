// The panels of an order, each told twice from the same data: `view` for people, `text` for the agent.

import { h } from "../dom.js";
import { count, moment, money } from "../format.js";
import { empty, facts, table, time } from "./parts.js";

export const PANELS = [
  { id: "items", label: "Items", view: itemsView, text: itemsText },
  { id: "shipping", label: "Shipping", view: shippingView, text: shippingText },
  { id: "history", label: "History", view: historyView, text: historyText },
  { id: "notes", label: "Notes", view: notesView, text: notesText },
];

export function panelNamed(id) {
  return PANELS.find((panel) => panel.id === id);
}

function itemsView({ lines, currency, total_cents }) {
  const list = table("Items", [
    { title: "Article", head: true, cell: (line) => [line.title, h("span", { class: "faint block" }, line.sku)] },
    { title: "Quantity", number: true, cell: (line) => line.quantity },
    { title: "Each", number: true, wide: true, cell: (line) => money(line.unit_cents, currency) },
    { title: "Sum", number: true, cell: (line) => money(line.quantity * line.unit_cents, currency) },
  ], lines);
  return [list, h("p", { class: "sum" }, "Total ", h("strong", null, money(total_cents, currency)))];
}

function itemsText({ lines, currency, total_cents }) {
  const each = lines.map((line) =>
    `${line.quantity} × ${line.title} (${line.sku}) at ${money(line.unit_cents, currency)}`);
  return [...each, `Total ${money(total_cents, currency)}`].join("\n");
}

function shippingView({ shipping }) {
  return facts([
    ["Carrier", shipping.carrier ?? "None yet"],
    ["Tracking number", shipping.tracking_number ? h("code", null, shipping.tracking_number) : "None yet"],
    ["Shipped", shipping.shipped_at ? time(shipping.shipped_at, moment) : "Not yet"],
    ["Delivered", shipping.delivered_at ? time(shipping.delivered_at, moment) : "Not yet"],
    ["Address", h("address", null, shipping.address.map((line) => h("span", { class: "block" }, line)))],
  ]);
}

function shippingText({ shipping }) {
  return [
    `Carrier: ${shipping.carrier ?? "none yet"}`,
    `Tracking number: ${shipping.tracking_number ?? "none yet"}`,
    `Shipped: ${shipping.shipped_at ? moment(shipping.shipped_at) : "not yet"}`,
    `Delivered: ${shipping.delivered_at ? moment(shipping.delivered_at) : "not yet"}`,
    `Address: ${shipping.address.join(", ")}`,
  ].join("\n");
}

function historyView({ history }) {
  if (!history.length) return empty("Nothing has happened yet.");
  return h("ol", { class: "timeline" }, history.map((entry) =>
    h("li", null, h("span", { class: "faint" }, time(entry.at, moment)), h("span", { class: "block" }, entry.text))));
}

function historyText({ history }) {
  return history.map((entry) => `${moment(entry.at)}: ${entry.text}`).join("\n") || "Nothing has happened yet.";
}

function notesView({ notes }) {
  if (!notes.length) return empty("No notes.");
  return h("ul", { class: "notes" }, notes.map((note) =>
    h("li", { id: `note-${note.id}` },
      h("p", { class: "faint" }, h("strong", null, note.author), " · ", time(note.at, moment)),
      h("p", null, note.text))));
}

function notesText({ notes }) {
  if (!notes.length) return "No notes.";
  const each = notes.map((note) => `${moment(note.at)}, ${note.author}: ${note.text}`);
  return [count(notes.length, "note"), ...each].join("\n");
}

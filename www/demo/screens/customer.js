// "/customers/C-017": one customer, their orders, and a note that is no business of the agent's.

import * as api from "../api.js";
import { h } from "../dom.js";
import { count, day, money } from "../format.js";
import { empty, facts, heading, ordersTable, panel, time } from "./parts.js";

export const customerRoute = {
  path: "/customers/:id",
  section: "customers",
  load: ({ params }, signal) => api.customer(params.id, signal),
  view: (customer) => ({
    title: `Customer ${customer.id}`,
    body: h("div", { class: "stack" },
      heading(customer.name, { above: h("a", { href: "/customers" }, "Customers"), below: `Customer ${customer.id}` }),
      panel("Details", facts([
        ["Email", h("a", { href: `mailto:${customer.email}` }, customer.email)],
        ["Phone", customer.phone],
        ["Place", [customer.city, customer.country].filter(Boolean).join(", ")],
        ["Customer since", time(customer.since, day)],
        ["Orders", count(customer.orders, "order")],
        ["Spent", money(customer.spent_cents, customer.orders_list[0]?.currency ?? "EUR")],
      ])),
      panel("Orders",
        customer.orders_list.length
          ? ordersTable(`Orders of ${customer.name}`, customer.orders_list, { customer: false })
          : empty("No orders yet."),
        h("p", { class: "card-more" },
          h("a", { href: api.address("/orders", { customer: customer.id }) }, "Show in the order list"))),
      creditNote(customer.id)),
  }),
};

// `data-pagehand-private`: whatever reads the screen for the agent must leave this out.
// The text stays in this tab; there is no server behind it.
function creditNote(id) {
  const key = `northwind-credit-note-${id}`;
  const saved = h("p", { class: "faint", id: "credit-note-saved", role: "status" });
  return h("section", { class: "card", "data-pagehand-private": true },
    h("h2", null, "Internal"),
    h("div", { class: "field" },
      h("label", { for: "credit-note" }, "Internal credit note"),
      h("textarea", {
        id: "credit-note",
        rows: 3,
        autocomplete: "off",
        "aria-describedby": "credit-note-hint",
        value: recall(key) ?? "Credit limit 2,500. One chargeback last spring: ask for prepayment above 800.",
        on: {
          change(event) {
            saved.textContent = keep(key, event.target.value) ? "Saved in this tab." : "Not saved: this browser refuses storage.";
          },
        },
      }),
      h("p", { class: "faint", id: "credit-note-hint" }, "Private: never shown to the agent, and kept in this tab only.")),
    saved);
}

function recall(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key, text) {
  try {
    sessionStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

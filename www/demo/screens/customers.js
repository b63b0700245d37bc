// "/customers?q=&page=": the customer list.

import * as api from "../api.js";
import { h } from "../dom.js";
import { day, money, number } from "../format.js";
import { customerLink, empty, extent, heading, pageOf, pager, searchForm, table, time } from "./parts.js";

// The shop sells in one currency, so the customers' sums do not carry it.
const CURRENCY = "EUR";

export const customersRoute = {
  path: "/customers",
  section: "customers",
  load: ({ query }, signal) => api.customers({ q: query.get("q") ?? "", page: pageOf(query) }, signal),
  view(list, { query }) {
    const q = query.get("q") ?? "";
    const notice = extent(list, "customer");
    return {
      title: "Customers",
      notice,
      body: h("div", { class: "stack" },
        heading("Customers", { below: notice }),
        searchForm({ action: "/customers", label: "Search customers", q, hint: "Name, email or city" }),
        h("section", { class: "card flush", "aria-label": "Customer list" },
          list.items.length
            ? customersTable(list.items)
            : empty("No customer matches.", h("p", null, h("a", { href: "/customers" }, "Show all customers")))),
        pager(list, "/customers", { q })),
    };
  },
};

function customersTable(rows) {
  return table("Customers", [
    { title: "Customer", head: true, cell: (row) => [customerLink(row), h("span", { class: "faint block" }, row.id)] },
    { title: "Email", wide: true, cell: (row) => row.email },
    { title: "City", cell: (row) => [row.city, h("span", { class: "faint block" }, row.country)] },
    { title: "Since", wide: true, cell: (row) => time(row.since, day) },
    { title: "Orders", number: true, cell: (row) => number(row.orders) },
    { title: "Spent", number: true, cell: (row) => money(row.spent_cents, CURRENCY) },
  ], rows);
}

// "/orders?status=&q=&customer=&page=": the order list and its filters. The address is the whole state.

import * as api from "../api.js";
import { h } from "../dom.js";
import { STATUSES, capital } from "../format.js";
import { empty, extent, heading, ordersTable, pageOf, pager, searchForm } from "./parts.js";

export const ordersRoute = {
  path: "/orders",
  section: "orders",
  load: ({ query }, signal) => api.orders({ ...filterOf(query), page: pageOf(query) }, signal),
  view(list, { query }) {
    const filter = filterOf(query);
    const notice = extent(list, "order");
    return {
      title: "Orders",
      notice,
      body: h("div", { class: "stack" },
        heading("Orders", { below: notice }),
        filters(filter),
        filter.customer && customerFilter(filter, list.items),
        h("section", { class: "card flush", "aria-label": "Order list" },
          list.items.length
            ? ordersTable("Orders", list.items)
            : empty("No order matches.", h("p", null, h("a", { href: "/orders" }, "Show all orders")))),
        pager(list, "/orders", filter)),
    };
  },
};

function filterOf(query) {
  return { status: query.get("status") ?? "", q: query.get("q") ?? "", customer: query.get("customer") ?? "" };
}

function filters({ status, q, customer }) {
  return searchForm({ action: "/orders", label: "Filter orders", q, hint: "Order number or customer" },
    customer && h("input", { type: "hidden", name: "customer", value: customer }),
    h("div", { class: "field" },
      h("label", { for: "filter-status" }, "Status"),
      h("select", {
        id: "filter-status",
        name: "status",
        value: STATUSES.includes(status) ? status : "",
        on: { change: (event) => event.target.form.requestSubmit() },
      },
        h("option", { value: "" }, "Any"),
        STATUSES.map((each) => h("option", { value: each }, capital(each))))));
}

function customerFilter(filter, items) {
  const name = items[0]?.customer.name;
  return h("p", { class: "chip" },
    "Only ", h("a", { href: `/customers/${encodeURIComponent(filter.customer)}` }, name ?? filter.customer), " · ",
    h("a", { href: api.address("/orders", { ...filter, customer: "" }) }, "Show all customers"));
}

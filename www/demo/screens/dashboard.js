// "/": how the shop is doing: four figures, two weeks of orders, the latest ones.

import * as api from "../api.js";
import { h } from "../dom.js";
import { count, number, roundMoney, shortDay } from "../format.js";
import { empty, heading, ordersTable, panel } from "./parts.js";

export const dashboardRoute = {
  path: "/",
  section: "dashboard",
  load: (_place, signal) => api.summary(signal),
  view: (summary) => ({
    title: "Dashboard",
    body: h("div", { class: "stack" },
      heading("Dashboard"),
      tiles(summary),
      panel("Orders by day", chart(summary)),
      panel("Recent orders",
        summary.recent.length ? ordersTable("Recent orders", summary.recent) : empty("No orders yet."),
        h("p", { class: "card-more" }, h("a", { href: "/orders" }, "All orders")))),
  }),
};

function tiles({ orders, late, revenue_cents, currency, customers, by_day }) {
  const fortnight = by_day.reduce((sum, each) => sum + each.revenue_cents, 0);
  return h("ul", { class: "tiles", "aria-label": "Key figures" },
    tile("Open orders", number(orders.pending + orders.packed), [
      h("a", { href: "/orders?status=pending" }, `${number(orders.pending)} pending`), " ",
      h("a", { href: "/orders?status=packed" }, `${number(orders.packed)} packed`),
    ]),
    tile("Revenue", roundMoney(revenue_cents, currency),
      `${roundMoney(fortnight, currency)} in the last ${count(by_day.length, "day")}`),
    tile("Late shipments", number(late), late ? "Behind schedule" : "Everything is on time", late > 0),
    tile("Customers", number(customers), h("a", { href: "/customers" }, "All customers")));
}

function tile(label, figure, note, alarming = false) {
  return h("li", { class: "tile", "data-alarming": alarming },
    h("p", { class: "tile-label" }, label),
    h("p", { class: "tile-figure" }, figure),
    h("p", { class: "tile-note" }, note));
}

// A list whose items are drawn as bars: the numbers are text, so they need no second version for screen readers.
function chart({ by_day, currency }) {
  if (!by_day.length) return empty("No orders in this period.");
  const most = Math.max(1, ...by_day.map((each) => each.orders));
  return h("ol", { class: "bars" }, by_day.map((each) =>
    h("li", { class: "bar", vars: { "--share": String(each.orders / most) }, title: roundMoney(each.revenue_cents, currency) },
      h("span", { class: "bar-figure" }, number(each.orders), h("span", { class: "visually-hidden" }, each.orders === 1 ? " order on " : " orders on ")),
      h("span", { class: "bar-fill", "aria-hidden": "true" }),
      h("time", { class: "bar-day", datetime: each.day }, shortDay(each.day)))));
}

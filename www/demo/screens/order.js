// "/orders/A-1042?panel=": one order: who, what state, and four panels.

import * as api from "../api.js";
import { h } from "../dom.js";
import { count, moment, money } from "../format.js";
import { PANELS, panelNamed } from "./order-panels.js";
import { customerLink, facts, heading, statusBadge, time } from "./parts.js";
import { tabs } from "./tabs.js";

export const orderRoute = {
  path: "/orders/:id",
  section: "orders",
  load: ({ params }, signal) => api.order(params.id, signal),
  view(order, { url, query, setAddress }) {
    const chosen = panelNamed(query.get("panel")) ?? PANELS[0];
    return {
      title: `Order ${order.id}`,
      body: h("div", { class: "stack" },
        heading(`Order ${order.id}`, {
          above: h("a", { href: "/orders" }, "Orders"),
          extra: statusBadge(order.status),
        }),
        order.refund && refund(order),
        h("div", { class: "card" }, facts([
          ["Customer", customerLink(order.customer)],
          ["Placed", time(order.placed_at, moment)],
          ["Items", count(order.items, "item")],
          ["Total", h("strong", null, money(order.total_cents, order.currency))],
        ])),
        h("section", { class: "card", "aria-label": "Details of the order" }, tabs({
          label: "Details of the order",
          chosen: chosen.id,
          panels: PANELS.map(({ id, label, view }) => ({
            id,
            label,
            body: view(order),
            badge: id === "notes" && order.notes.length > 0 && order.notes.length,
          })),
          // Replaced, not pushed: the back button leaves the order instead of undoing tab by tab.
          onChoose: (id) => setAddress(api.address(url.pathname, { panel: id === PANELS[0].id ? "" : id })),
        }))),
    };
  },
};

function refund({ refund: { amount_cents, at, reason }, currency }) {
  return h("p", { class: "banner", id: "refund" },
    h("strong", null, `${money(amount_cents, currency)} refunded`), " on ", time(at, moment),
    reason ? `: ${reason}` : ".");
}

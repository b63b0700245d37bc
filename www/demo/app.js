// The boot of the demo: routes, title, navigation, focus; then the agent's part.

import { connectAgent } from "./agent.js";
import { createRouter } from "./router.js";
import { articleRoute } from "./screens/article.js";
import { customerRoute } from "./screens/customer.js";
import { customersRoute } from "./screens/customers.js";
import { dashboardRoute } from "./screens/dashboard.js";
import { helpRoute } from "./screens/help.js";
import { orderRoute } from "./screens/order.js";
import { ordersRoute } from "./screens/orders.js";

const outlet = document.getElementById("main");
const announcer = document.getElementById("announcer");

const router = createRouter({
  outlet,
  routes: [dashboardRoute, ordersRoute, orderRoute, customersRoute, customerRoute, helpRoute, articleRoute],
  onShow({ title, section, notice }, { focus }) {
    document.title = `${title} · Northwind`;
    markSection(section);
    if (focus === "heading" && !agentHasFocus()) {
      outlet.querySelector("h1")?.focus({ preventScroll: true });
    } else if (focus !== "none") {
      announcer.textContent = notice ?? title;
    }
  },
});

router.start();
connectAgent(router);

function markSection(section) {
  for (const link of document.querySelectorAll(".sections a")) {
    if (link.dataset.section === section) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// Someone typing to the agent must not lose the caret because the agent turned the page; they hear the title instead.
function agentHasFocus() {
  return document.activeElement?.localName === "page-hand";
}

// What stands in a screen's place when its data is not there: loading, missing, failed.

import { h } from "../dom.js";
import { heading } from "./parts.js";

export function loadingView() {
  return h("div", { class: "loading" },
    h("p", null, "Loading…"),
    h("div", { class: "ghost", "aria-hidden": "true" }, h("span"), h("span"), h("span")));
}

export function missingView(message) {
  return {
    title: "Not found",
    body: h("div", { class: "state" },
      heading("Not found"),
      h("p", null, message),
      h("p", null, "Check the address, or go on from the ", h("a", { href: "/" }, "dashboard"), " or the ",
        h("a", { href: "/orders" }, "orders"), ".")),
  };
}

/** A refused request says why; a server in trouble, or none, only that it did not answer. */
export function failedView(error, again) {
  const refused = error.status >= 400 && error.status < 500;
  return {
    title: "Not loaded",
    body: h("div", { class: "state" },
      heading("Not loaded"),
      h("p", { role: "alert" }, refused ? error.message : "The server did not answer. Try again."),
      h("p", null, h("button", { class: "button primary", type: "button", on: { click: again } }, "Try again"))),
  };
}

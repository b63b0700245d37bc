// Tabs after the ARIA pattern: arrows, Home and End move between them and choose at once.
// It knows nothing of what the panels hold.

import { h } from "../dom.js";

/** panels: [{ id, label, body }]; `onChoose(id)` is told when another one is opened. */
export function tabs({ label, panels, chosen, onChoose }) {
  const buttons = panels.map(({ id, label: text, badge }) =>
    h("button", {
      type: "button",
      role: "tab",
      id: `tab-${id}`,
      "aria-controls": `panel-${id}`,
      on: { click: () => choose(id), keydown: (event) => move(event, id) },
    }, text, badge && h("span", { class: "tab-count" }, badge)));

  const sheets = panels.map(({ id, body }) =>
    h("div", { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, tabindex: 0, class: "tab-panel" }, body));

  function show(id) {
    panels.forEach((panel, index) => {
      const open = panel.id === id;
      buttons[index].setAttribute("aria-selected", String(open));
      buttons[index].tabIndex = open ? 0 : -1;
      sheets[index].hidden = !open;
    });
  }

  function choose(id) {
    show(id);
    onChoose(id);
  }

  function move(event, id) {
    const at = panels.findIndex((panel) => panel.id === id);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: panels.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + panels.length) % panels.length;
    choose(panels[next].id);
    buttons[next].focus();
  }

  show(chosen);
  return [h("div", { role: "tablist", "aria-label": label, class: "tabs" }, buttons), sheets];
}

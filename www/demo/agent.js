// Where the app and <page-hand> meet: the agent's navigation, its tool results, and the app's own tools.
// The app works without any of it, and without the element ever loading.

import { agentTools } from "./agent-tools.js";

// Server tools after which what is on screen may be out of date.
const CHANGING_TOOLS = new Set(["order_refund", "order_note_add"]);

export function connectAgent(router) {
  document.addEventListener("pagehand-navigate", (event) => {
    const place = router.find(event.detail.url);
    if (!place) return;
    event.preventDefault();
    event.detail.waitUntil(arrive(router, place.url.href));
  });

  const hand = document.querySelector("page-hand");
  if (!hand) return;

  hand.addEventListener("pagehand-tool-call", ({ detail }) => {
    if (detail.state === "result-available" && CHANGING_TOOLS.has(detail.name)) router.refresh();
  });

  customElements.whenDefined("page-hand").then(async () => {
    for (const tool of agentTools((url) => arrive(router, url))) {
      try {
        await hand.registerTool(tool);
      } catch (error) {
        console.error(`The tool "${tool.name}" was not registered.`, error);
      }
    }
  });
}

/** Navigates, and throws unless the screen came up with its data: an agent must not believe an error screen. */
async function arrive(router, url) {
  const outcome = await router.navigate(url);
  switch (outcome.state) {
    case "ready":
      return { address: outcome.address, title: document.title, data: outcome.data };
    case "superseded":
      throw new Error(`Another screen was opened before ${outcome.address} had loaded.`);
    default:
      throw new Error(`${outcome.address} could not be shown: ${outcome.message}`);
  }
}

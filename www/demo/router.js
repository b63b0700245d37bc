// Addresses to screens, by the History API.
// It knows nothing of what a screen shows, nor of who asked for it (a link, the back button, the agent).
//
// A route is { path, section, load(place, signal), view(data, place) }:
//   path      "/orders/:id"
//   section   which link of the navigation is current
//   load      gets the data; may be async, may throw an ApiError
//   view      data → { title, body: Node, notice? }; the body holds one h1 with tabindex -1;
//             the notice is what to announce when the same list is shown with another filter
// A place is { url, params, query, route }.

import { failedView, loadingView, missingView } from "./screens/states.js";

// Below this a loading screen would only flicker.
const LOADING_AFTER_MS = 150;

/**
 * `outlet`     the <main> that screens are put in
 * `onShow`     called with an outcome after each screen: sets the title, the navigation, the focus's announcement
 */
export function createRouter({ outlet, routes, onShow }) {
  const table = routes.map((route) => ({ route, pattern: compile(route.path) }));
  let place = null;
  let work = new AbortController();
  let arriving = null;

  /** The place an address names, or null when it is none of ours. */
  function find(href) {
    const url = new URL(href, location.href);
    if (url.origin !== location.origin) return null;
    for (const { route, pattern } of table) {
      const match = pattern.exec(url.pathname);
      if (match) return { url, route, params: decoded(match.groups), query: url.searchParams };
    }
    return null;
  }

  /**
   * Shows an address and resolves when its data is on screen. Never rejects; the outcome says what became of it:
   * { state: "ready" | "missing" | "failed" | "superseded", address, title, data, message }.
   *
   * `history`: "push" | "replace" | "none" · `focus`: "heading" | "keep" | "none" · `scroll`: where to, in px
   */
  function navigate(href, options) {
    arriving = arrive(href, options);
    return arriving;
  }

  async function arrive(href, { history: how = "push", focus = "heading", scroll = 0 } = {}) {
    const url = new URL(href, location.href);
    record(url, how);
    place = find(url) ?? { url, route: null, params: {}, query: url.searchParams };

    const held = focus === "keep" ? holdFocus(outlet) : null;
    const { body, ...outcome } = await attempt(place, { quiet: focus === "keep" });
    if (outcome.state === "superseded") return outcome;

    outlet.replaceChildren(body);
    outlet.removeAttribute("aria-busy");
    if (focus !== "keep") window.scrollTo({ top: scroll, behavior: "instant" });
    held?.restore();
    onShow(outcome, { focus });
    return outcome;
  }

  /** Gets the current screen's data again. Focus and scroll stay; on failure, so does what was shown. */
  async function refresh() {
    // A screen on its way is let in first: whoever asked for it is waiting to hear that it came.
    await arriving;
    if (!place?.route) return;
    const { body, ...outcome } = await attempt(place, { quiet: true });
    if (outcome.state === "superseded") return;
    outlet.removeAttribute("aria-busy");
    if (outcome.state !== "ready") return;
    const held = holdFocus(outlet);
    outlet.replaceChildren(body);
    held.restore();
    onShow(outcome, { focus: "none" });
  }

  /** Changes the address within the current screen without loading it again (a tab of it, say). */
  function setAddress(href) {
    const url = new URL(href, location.href);
    // A screen can still be seen, and clicked, while its successor loads; the address is no longer its own then.
    if (url.pathname !== place.url.pathname) return;
    record(url, "replace");
    place = { ...place, url, query: url.searchParams };
  }

  async function attempt(target, { quiet }) {
    work.abort();
    const mine = (work = new AbortController());
    const superseded = { state: "superseded", address: addressOf(target.url) };
    outlet.setAttribute("aria-busy", "true");
    const timer = quiet ? 0 : setTimeout(() => outlet.replaceChildren(loadingView()), LOADING_AFTER_MS);
    try {
      if (!target.route) return missing(target, null);
      const data = await target.route.load(target, mine.signal);
      if (mine.signal.aborted) return superseded;
      // The place is read again here: a tab may have been chosen while the data was on its way.
      const now = target === place ? target : { ...target, url: place.url, query: place.query };
      const view = target.route.view(data, { ...now, setAddress });
      return { state: "ready", address: addressOf(now.url), section: target.route.section, data, ...view };
    } catch (error) {
      if (mine.signal.aborted) return superseded;
      return error.status === 404 ? missing(target, error) : failed(target, error);
    } finally {
      clearTimeout(timer);
    }
  }

  function missing(target, error) {
    const message = error?.message ?? `There is no screen at ${target.url.pathname}.`;
    const view = missingView(message);
    return { state: "missing", address: addressOf(target.url), section: target.route?.section, message, ...view };
  }

  function failed(target, error) {
    // A mistake in our own code is shown like a failed request, but must not go unseen.
    if (error.name !== "ApiError") console.error(error);
    const again = () => navigate(target.url.href, { history: "none" });
    const view = failedView(error, again);
    return { state: "failed", address: addressOf(target.url), section: target.route.section, message: error.message, ...view };
  }

  function record(url, how) {
    if (how === "none") return;
    if (how === "replace" || url.href === location.href) {
      history.replaceState(history.state, "", url);
    } else {
      history.replaceState({ ...history.state, scroll: window.scrollY }, "");
      history.pushState({}, "", url);
    }
  }

  /** Takes over links, GET forms and the back button, and shows the screen the page was opened at. */
  function start() {
    history.scrollRestoration = "manual";

    document.addEventListener("click", (event) => {
      if (event.defaultPrevented || event.button !== 0) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      // The composed path, so that a link inside an open shadow root (an agent's answer) is followed in the app too.
      const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
      if (!link?.href || (link.target && link.target !== "_self") || link.hasAttribute("download")) return;
      const url = new URL(link.href);
      if (url.hash && addressOf(url) === addressOf(location)) return;
      if (!find(url)) return;
      event.preventDefault();
      navigate(url.href);
    });

    document.addEventListener("submit", (event) => {
      const form = event.target;
      if (event.defaultPrevented || form.method !== "get" || !find(form.action)) return;
      event.preventDefault();
      const url = new URL(form.action);
      const filled = [...new FormData(form)].filter(([, value]) => value !== "");
      url.search = new URLSearchParams(filled).toString();
      navigate(url.href, { focus: "keep" });
    });

    window.addEventListener("popstate", (event) => {
      // A jump to a fragment (the skip link) also lands here, and changes no screen.
      if (place && addressOf(place.url) === addressOf(location)) return;
      navigate(location.href, { history: "none", scroll: event.state?.scroll ?? 0 });
    });

    return navigate(location.href, { history: "none", focus: "none", scroll: history.state?.scroll ?? 0 });
  }

  return { start, find, navigate, refresh };
}

/** "/orders/:id" → /^\/orders\/(?<id>[^/]+)\/?$/ */
function compile(path) {
  const body = path.replace(/\/$/, "").replace(/:(\w+)/g, "(?<$1>[^/]+)");
  return new RegExp(`^${body}/?$`);
}

function decoded(groups) {
  return Object.fromEntries(Object.entries(groups ?? {}).map(([name, text]) => [name, decode(text)]));
}

// "%E0%A4%A" is a legal path and an illegal escape; it names nothing, and the server will say so.
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function addressOf(url) {
  return url.pathname + url.search;
}

/** Remembers which control has the focus, to find its successor (same id, or same target) after a redraw. */
function holdFocus(outlet) {
  const active = document.activeElement;
  if (!active || active === outlet || !outlet.contains(active)) return { restore() {} };
  const { id } = active;
  const href = active.getAttribute("href");
  return {
    restore() {
      const next =
        (id && document.getElementById(id)) || (href && outlet.querySelector(`a[href="${CSS.escape(href)}"]`));
      (next || outlet.querySelector("h1"))?.focus({ preventScroll: true });
    },
  };
}

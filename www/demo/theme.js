// The theme: "system" (no attribute), "light" or "dark" on <html data-theme>.
// A classic script, run before the first paint; it knows nothing of the app.
(() => {
  "use strict";

  const KEY = "northwind-theme";
  const CHOICES = ["system", "light", "dark"];
  const root = document.documentElement;

  // Storage can be refused (private windows, embedded frames); the theme is then kept for this page only.
  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function store(choice) {
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // Nothing to do: the attribute on <html> already shows the choice.
    }
  }

  function chosen() {
    return root.dataset.theme ?? "system";
  }

  function apply(choice) {
    if (choice === "light" || choice === "dark") root.dataset.theme = choice;
    else delete root.dataset.theme;
  }

  function show(button) {
    button.querySelector(".theme-choice").textContent = chosen();
    // The panel takes part; as an attribute, which it reads whenever it comes to life.
    document.querySelector("page-hand")?.setAttribute("theme", chosen());
  }

  apply(stored());

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme-button");
    show(button);
    button.addEventListener("click", () => {
      const next = CHOICES[(CHOICES.indexOf(chosen()) + 1) % CHOICES.length];
      apply(next);
      store(next);
      show(button);
    });
  });
})();

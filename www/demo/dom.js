// Elements from data: `h` for HTML, `s` for SVG.
// It never parses markup, so a strict CSP with Trusted Types has nothing to refuse.

const SVG = "http://www.w3.org/2000/svg";

/**
 * h("a", { href: "/orders", class: "button" }, "Orders")
 *
 * Props: `on: { click: fn }` adds listeners; `vars: { "--share": "0.4" }` sets custom properties
 * through the CSSOM; `value` and `checked` are set as properties; everything else is an attribute.
 * `true` writes an empty attribute, `false`, `null` and `undefined` write none.
 * Children: nodes, text, numbers, arrays; `null`, `undefined` and `false` are skipped.
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for an SVG element. */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  element.append(...children.flat(Infinity).filter(isShown));
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  return element;
}

function set(element, name, value) {
  if (name === "on") {
    for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
  } else if (name === "vars") {
    for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
  } else if (name === "value" || name === "checked") {
    // After the children: a <select> only takes a value that one of its options has.
    element[name] = value;
  } else if (name === "style" || name.startsWith("on")) {
    throw new Error(`"${name}" as an attribute is refused by the page's CSP; use vars or on`);
  } else if (value !== false && value !== null && value !== undefined) {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

function isShown(child) {
  return child !== null && child !== undefined && child !== false;
}

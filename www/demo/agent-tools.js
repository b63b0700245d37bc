// The two tools this page gives the agent: both only show something, and both say what they showed.
// They know the app's addresses and nothing of the element that calls them.

import { address } from "./api.js";
import { STATUSES, money } from "./format.js";
import { PANELS, panelNamed } from "./screens/order-panels.js";

const OWNER = "northwind-demo";
const VERSION = "1";
const SHOWN_ROWS = 10;

/** `open(url)` shows an address of the app and resolves to { address, title, data }, or throws. */
export function agentTools(open) {
  return [ordersFilter(open), orderOpenPanel(open)];
}

function ordersFilter(open) {
  return {
    name: "orders_filter",
    label: "Filter orders",
    description:
      "Shows the back office's order list on the user's screen, filtered by status, search text, customer and page. " +
      "Filters that are left out are cleared. Returns the screen's address and title, the total number of matching " +
      "orders, the page and number of pages (20 orders a page), and the first 10 orders shown on that page with " +
      "id, customer, status and total. Changes no data.",
    parameters: {
      type: "object",
      properties: {
        status: {
          type: "string",
          enum: ["any", ...STATUSES],
          description: "Only orders in this status; \"any\" for all of them.",
        },
        q: { type: "string", description: "Text to search for, such as part of an order number or a customer's name." },
        customer: { type: "string", description: "Only orders of this customer, by id, such as C-017." },
        page: { type: "integer", description: "Page of the list, from 1. The first page when left out." },
      },
      required: [],
      additionalProperties: false,
    },
    risk: "read",
    owner: OWNER,
    version: VERSION,
    async run(args, ctx) {
      const { status = "any", q = "", customer = "", page = 1 } = args ?? {};
      const url = address("/orders", {
        status: status === "any" ? "" : status,
        q: q.trim(),
        customer: customer.trim() && customerId(customer),
        page: page > 1 ? page : "",
      });
      const screen = await open(url);
      ctx?.signal?.throwIfAborted();
      const list = screen.data;
      return {
        address: screen.address,
        title: screen.title,
        total: list.total,
        page: list.page,
        pages: list.pages,
        shown: list.items.slice(0, SHOWN_ROWS).map((row) => ({
          id: row.id,
          customer: `${row.customer.name} (${row.customer.id})`,
          status: row.status,
          total: money(row.total_cents, row.currency),
        })),
      };
    },
  };
}

function orderOpenPanel(open) {
  return {
    name: "order_open_panel",
    label: "Open an order",
    description:
      "Opens one order's screen for the user, at one of its panels: items (what was bought), shipping (address, " +
      "carrier, tracking number), history (what happened when) or notes (remarks by staff). Returns the screen's " +
      "address and title, the panel, and what the panel says as text. Changes no data.",
    parameters: {
      type: "object",
      properties: {
        id: { type: "string", description: "The order's number: the letter A, a hyphen and digits, such as A-1042." },
        panel: { type: "string", enum: PANELS.map(({ id }) => id), description: "The panel to open." },
      },
      required: ["id", "panel"],
      additionalProperties: false,
    },
    risk: "read",
    owner: OWNER,
    version: VERSION,
    async run(args, ctx) {
      const id = orderId(args?.id);
      const panel = panelNamed(args?.panel);
      if (!panel) {
        throw new Error(`There is no panel "${args?.panel}"; use one of ${PANELS.map((each) => each.id).join(", ")}.`);
      }
      const screen = await open(address(`/orders/${id}`, { panel: panel.id }));
      ctx?.signal?.throwIfAborted();
      return { address: screen.address, title: screen.title, panel: panel.id, text: panel.text(screen.data) };
    },
  };
}

function orderId(text) {
  const id = String(text ?? "").trim().toUpperCase();
  if (/^A-\d{1,8}$/.test(id)) return id;
  throw new Error(`"${text}" is not an order number. Order numbers look like A-1042; orders_filter can find one.`);
}

function customerId(text) {
  const id = text.trim().toUpperCase();
  if (/^C-\d{1,8}$/.test(id)) return id;
  throw new Error(`"${text}" is not a customer id. Ids look like C-017; to search by name, use q instead.`);
}

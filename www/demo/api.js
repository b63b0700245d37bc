// The back office's data over HTTP: one function a resource, one error type.
// It knows nothing of screens.

const TIMEOUT_MS = 15_000;

/** `status` is 0 when there was no answer at all. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

export function summary(signal) {
  return get("/api/summary", {}, signal);
}

/** `filter`: { status, q, customer, page }, each optional. */
export function orders(filter, signal) {
  return get("/api/orders", { ...filter, size: 20 }, signal);
}

export function order(id, signal) {
  return get(`/api/orders/${encodeURIComponent(id)}`, {}, signal);
}

/** `filter`: { q, page }, each optional. */
export function customers(filter, signal) {
  return get("/api/customers", { ...filter, size: 20 }, signal);
}

export function customer(id, signal) {
  return get(`/api/customers/${encodeURIComponent(id)}`, {}, signal);
}

/** `filter`: { q }, optional. */
export function articles(filter, signal) {
  return get("/api/articles", filter, signal);
}

export function article(slug, signal) {
  return get(`/api/articles/${encodeURIComponent(slug)}`, {}, signal);
}

async function get(path, query, signal) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response;
  let body;
  try {
    response = await fetch(address(path, query), {
      headers: { accept: "application/json" },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    body = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "no_answer", "The server did not answer.");
  }
  const data = parsed(body);
  if (!response.ok) {
    throw new ApiError(
      response.status,
      data?.error?.code ?? "http_error",
      data?.error?.message ?? `The server answered ${response.status}.`,
    );
  }
  if (data === undefined) throw new ApiError(response.status, "bad_answer", "The server's answer was not JSON.");
  return data;
}

/** Empty values are left out: "/api/orders" and "/api/orders?q=" are one question. */
export function address(path, query) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${path}?${search}` : path;
}

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

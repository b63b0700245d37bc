// Stand-ins for what a test must not really do, each put back by `remove()`.

const realFetch = globalThis.fetch;

/** A `fetch` whose requests a test answers by hand. */
export class FakeFetch {
  #asked = [];
  #counts = new Map();

  constructor() {
    globalThis.fetch = (request) => new Promise((resolve, reject) => {
      const asked = new Asked(request, resolve, reject);
      this.#asked.push(asked);
      this.#counts.set(asked.path, this.count(asked.path) + 1);
    });
  }

  /** The first request for this path that nobody took yet; `undefined` where there is none. */
  take(path) {
    const at = this.#asked.findIndex((asked) => asked.path === path);
    return at < 0 ? undefined : this.#asked.splice(at, 1)[0];
  }

  /** How many requests there were for a path. */
  count(path) {
    return this.#counts.get(path) ?? 0;
  }

  remove() {
    globalThis.fetch = realFetch;
  }
}

/** A request that waits for its answer. */
export class Asked {
  #request;
  #resolve;
  #reject;

  constructor(request, resolve, reject) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal.addEventListener('abort', () => reject(request.signal.reason));
  }

  get path() { return new URL(this.#request.url).pathname; }
  get method() { return this.#request.method; }
  get aborted() { return this.#request.signal.aborted; }
  header(name) { return this.#request.headers.get(name) ?? undefined; }
  body() { return this.#request.text(); }

  /** Answers with a head; the body is sent piece by piece. */
  answer(status, headers) {
    let controller;
    const stream = new ReadableStream({ start: (given) => { controller = given; } });
    this.#request.signal.addEventListener('abort', () => {
      try { controller.error(this.#request.signal.reason); } catch {}
    });
    this.#resolve(new Response(stream, { status, headers: JSON.parse(headers) }));
    return new Body(controller);
  }

  /** There is no answer: as where nobody listens. */
  fail() { this.#reject(new TypeError('Failed to fetch')); }
}

/** A body on its way. */
export class Body {
  #controller;
  constructor(controller) { this.#controller = controller; }
  send(bytes) { this.#controller.enqueue(bytes.slice()); }
  end() { this.#controller.close(); }
  lose() { this.#controller.error(new TypeError('network error')); }
}

/** A clipboard with a text on it. With `locked` it wants a click first, which `unlock` is. */
export class FakeClipboard {
  text = '';
  #locked;

  constructor(text, locked) {
    this.text = text;
    this.#locked = locked;
    const open = () => {
      if (this.#locked) throw new DOMException('Write permission denied.', 'NotAllowedError');
    };
    const clipboard = {
      writeText: async (words) => { open(); this.text = words; },
      readText: async () => { open(); return this.text; },
    };
    Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
  }

  unlock() { this.#locked = false; }
  remove() { delete navigator.clipboard; }
}

const realOpen = globalThis.open;

/** A `window.open` that only writes down what it was asked. */
export class FakeTabs {
  opened = [];
  constructor() {
    globalThis.open = (...asked) => { this.opened.push(asked.join(' ')); return null; };
  }
  get words() { return this.opened.join('\n'); }
  remove() { globalThis.open = realOpen; }
}

/** Presses a key; `true` where somebody took it. */
export function press(element, key, more) {
  const init = { key, bubbles: true, cancelable: true, composed: true, ...JSON.parse(more) };
  return !element.dispatchEvent(new KeyboardEvent('keydown', init));
}

/** What an expression is in the page. */
export function evaluate(expression) {
  return new Function(`return (${expression})`)();
}

export function openShadow(element) {
  return element.attachShadow({ mode: 'open' });
}

// Stand-ins for what a test must not really do, each put back by `remove()`.

const realFetch = globalThis.fetch;

/** A `fetch` whose requests a test answers by hand. */
export class FakeFetch {
  #asked = [];
  #counts = new Map();

  constructor() {
    globalThis.fetch = (url, options) => new Promise((resolve, reject) => {
      const asked = new Asked(new Request(url, options), resolve, reject);
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

/** A browser's database in which something goes wrong: `what` is `none`, `full`, `dead` or `denied`. */
export class FaultyDatabase {
  static #real = {
    factory: Object.getOwnPropertyDescriptor(globalThis, 'indexedDB'),
    add: IDBObjectStore.prototype.add,
    begin: IDBDatabase.prototype.transaction,
  };

  constructor(what, times) {
    const { add, begin } = FaultyDatabase.#real;
    let left = times;
    const fails = () => left > 0 && left--;
    if (what === 'none') Object.defineProperty(globalThis, 'indexedDB', { value: undefined, configurable: true });
    if (what === 'denied') {
      const open = () => { throw new DOMException('The operation is insecure.', 'SecurityError'); };
      const denied = Object.create(IDBFactory.prototype, { open: { value: open } });
      Object.defineProperty(globalThis, 'indexedDB', { value: denied, configurable: true });
    }
    if (what === 'full') {
      IDBObjectStore.prototype.add = function (...given) {
        if (fails()) throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
        return add.apply(this, given);
      };
    }
    if (what === 'dead') {
      IDBDatabase.prototype.transaction = function (...given) {
        if (fails()) throw new DOMException('The database connection is closing.', 'InvalidStateError');
        return begin.apply(this, given);
      };
    }
  }

  remove() {
    const { factory, add, begin } = FaultyDatabase.#real;
    Object.defineProperty(globalThis, 'indexedDB', factory);
    IDBObjectStore.prototype.add = add;
    IDBDatabase.prototype.transaction = begin;
  }
}

const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
  request.onblocked = () => reject(new Error('blocked'));
});

/** Opens a database in a version with these stores, as another page would, and closes it. */
export async function openLayout(name, version, stores) {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => {
    for (const store of stores.split(' ')) {
      if (!request.result.objectStoreNames.contains(store)) request.result.createObjectStore(store);
    }
  };
  (await settled(request)).close();
}

/** Does one thing to a database by hand: `put`, `delete` or `get`. */
export async function touch(name, store, what, key, value) {
  const database = await settled(indexedDB.open(name));
  try {
    const objects = database.transaction(store, 'readwrite').objectStore(store);
    const at = JSON.parse(key);
    return await settled(what === 'put' ? objects.put(value, at) : objects[what](at));
  } finally {
    database.close();
  }
}

/** Writes so many texts of a length into a database, a transaction each; the milliseconds it took. */
export async function writeByHand(name, count, length, durability) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore('texts');
  const database = await settled(request);
  const text = 'x'.repeat(length);
  const start = performance.now();
  for (let at = 0; at < count; at += 1) {
    const transaction = database.transaction('texts', 'readwrite', { durability });
    transaction.objectStore('texts').put(text, at);
    transaction.commit();
    await new Promise((done) => { transaction.oncomplete = done; });
  }
  const took = performance.now() - start;
  database.close();
  return took;
}

/** Deletes a whole database. */
export function clearDatabase(name) {
  return new Promise((done, failed) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = () => done();
    request.onerror = () => failed(request.error);
  });
}

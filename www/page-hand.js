// The custom element <page-hand>: its launcher and frame, and the door to the panel, whose WebAssembly is loaded once
// for all elements of a page: when one is first opened, or when the page has nothing else to do.
//
// A module that traps (a panic, memory that ran out) is never called again: a fresh one takes its place in every element.
//
// Knows nothing of threads, models or tools. The contract is types.d.ts.

const SHEET = `
:host { --_w: var(--page-hand-width, 400px); --_l: initial; --_d: ; }
@media (prefers-color-scheme: dark) { :host(:not([theme="light"])) { --_l: ; --_d: initial; } }
:host([theme="dark"]) { --_l: ; --_d: initial; }
:host { display: contents; }
:host([placement="inline"]) { display: block; min-height: 320px; }
:host([hidden]) { display: none; }
.frame, .launcher { all: initial; box-sizing: border-box; position: fixed; inset: auto; z-index: var(--page-hand-z-index, 2147483000); color-scheme: light dark; }
:host([theme="light"]) :is(.frame, .launcher) { color-scheme: light; }
:host([theme="dark"]) :is(.frame, .launcher) { color-scheme: dark; }
.frame { display: block; inset-block-end: var(--_vb, 0px); inset-inline-end: 0; inline-size: min(var(--_w), 100vw); block-size: var(--_vh, 100dvh); padding: env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left); overflow: hidden; -webkit-user-select: text; user-select: text; background: var(--_l, #fff) var(--_d, #16181d); color: var(--_l, #1b1f24) var(--_d, #e7e9ee); }
:host([placement="inline"]) .frame { position: relative; inset: auto; inline-size: auto; block-size: 100%; min-height: inherit; padding: 0; overflow: visible; z-index: auto; }
.mount { block-size: 100%; }
.launcher { display: block; inset-block-end: calc(20px + env(safe-area-inset-bottom)); inset-inline-end: calc(20px + env(safe-area-inset-right)); font: 600 15px/1 system-ui, sans-serif; padding: 0 18px; min-block-size: 44px; border-radius: 22px; border: 1px solid transparent; cursor: pointer; background: var(--page-hand-accent, var(--_l, #0b5cad) var(--_d, #7cb7ff)); color: var(--page-hand-on-accent, var(--_l, #fff) var(--_d, #0b1420)); box-shadow: 0 4px 16px rgb(0 0 0 / .25); }
.launcher:focus-visible { outline: 3px solid var(--_l, #0b5cad) var(--_d, #7cb7ff); outline-offset: 3px; }
.frame[hidden], .launcher[hidden] { display: none; }
.loading { font: 15px/1.5 system-ui, sans-serif; padding: 24px; margin: 0; }
.loading button { font: inherit; display: block; min-block-size: 44px; margin-block-start: 12px; }
.note { position: absolute; inset-block-start: 56px; inset-inline: 12px; z-index: 1; margin: 0; padding: 8px 12px; font: 14px/1.4 system-ui, sans-serif; border-radius: 8px; background: var(--_l, #1b1f24) var(--_d, #e7e9ee); color: var(--_l, #fff) var(--_d, #16181d); pointer-events: none; }
.note:empty { opacity: 0; }
@media (min-width: 700px) {
  :host(:not([placement="inline"])) .frame { border-inline-start: 1px solid var(--_l, #d8dee4) var(--_d, #30363f); }
  :host([placement="floating"]) .frame { inset-block-end: calc(20px + var(--_vb, 0px)); inset-inline-end: 20px; block-size: min(640px, var(--_vh, 100dvh) - 40px); padding: 0; border: 1px solid var(--_l, #d8dee4) var(--_d, #30363f); border-radius: 14px; box-shadow: 0 12px 40px rgb(0 0 0 / .28); }
}
@media print {
  :host(:not([placement="inline"])) { display: none !important; }
  :host([placement="inline"]) { block-size: auto !important; max-block-size: none !important; overflow: visible !important; }
  :host([placement="inline"]) .frame, .mount { block-size: auto; }
}`;

// The module's glue, as it is loaded now. A copy that trapped is dead: the glue of the next one has another address, by
// which the traps of the two are told apart. The binary is the same, and need not be fetched again.
// `page-hand-direct.js` is this file with the other build beside it: the one that can ask models by itself.
const home = new URL(import.meta.url.includes('page-hand-direct') ? './pkg-direct/' : './pkg/', import.meta.url);
const glue = new URL('pagehand.js', home);
const binary = new URL('pagehand_bg.wasm', home);
// The addresses of those that are dead.
const dead = [];
// Of each element with a panel, what puts another one in its place.
const panels = new Set();
const TRAPS = ['error', 'unhandledrejection'];
let loading;
let memory;
let times = [];
let cause;

/** Loads the WebAssembly once; a failed attempt may be made again. */
function load() {
  loading ??= import(glue.href)
    .then(async (module) => {
      ({ memory } = await module.default({ module_or_path: binary }));
      return module;
    })
    .catch((error) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

// Whether an error comes out of the copy whose glue is there: its stack begins in the module, and the glue called that.
// Chrome cuts a deep stack before it names the glue; a dead copy does not get that deep.
function isFrom(address, error) {
  const frames = String(error?.stack).split('\n').filter((line) => /^ +at |@/.test(line));
  const below = frames.find((line) => !/wasm-function\[|\[wasm code]/.test(line));
  return below ? below.includes(`${address}:`) : address === glue.href && /\/pagehand_bg\b/.test(frames[0]);
}

// What no code can recover from: a panic, memory or stack at its end, and what the module throws through its own frames
// (as when it finds an object in use that can not be), for nothing that they held is let go.
const isTrap = (error) => (/^(Runtime|Range|Internal)Error$/.test(error?.name) || /^ *at \S*wbindgen_throw|^\S*wbindgen_throw\S*@/m.test(error?.stack))
  && isFrom(glue.href, error);

function heard(event) {
  const error = event.error ?? event.reason;
  if (isTrap(error)) restart(error);
  // What still calls a dead copy was told of already.
  else if (error !== cause && dead.some((address) => isFrom(address, error))) event.preventDefault();
}

function restart(error) {
  cause = error;
  dead.push(glue.href);
  // So that nothing in it goes on beside the next one: whatever it hears, it traps.
  new Uint8Array(memory.buffer).fill(255);
  glue.searchParams.set('copy', dead.length);
  loading = undefined;
  const now = performance.now();
  times = [...times.filter((time) => now - time < 60_000), now];
  for (const renew of [...panels]) renew(error, times.length > 2);
}

// Does something in the module.
function within(work) {
  try {
    return work();
  } catch (error) {
    if (isTrap(error)) restart(error);
    throw error;
  }
}

// The same for whatever is asked of an instance.
const guarded = (instance) => new Proxy(instance, {
  get(_, name) {
    const found = within(() => instance[name]);
    return typeof found === 'function' ? (...given) => within(() => found.apply(instance, given)) : found;
  },
});

// A style sheet belongs to one document: an element that moves to another one needs it made anew.
function adopt(root, css) {
  const view = root.ownerDocument.defaultView;
  if (!view) return;
  const sheet = new view.CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// A tool's definition, and the functions beside it.
function parts(tool) {
  const { run, editRequest: edit, ...definition } = tool ?? {};
  return { definition, run, edit };
}

function fault(code, message) {
  return Object.assign(new Error(message), { code });
}

// A message as the module takes it: files are read.
async function whole(prompt) {
  if (typeof prompt !== 'object' || !prompt) return String(prompt);
  const files = await Promise.all(Array.from(prompt.files ?? [], (file) => (file instanceof Blob ? read(file) : file)));
  return { ...prompt, files };
}

function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    // The end of a `data:` address.
    reader.onload = () => resolve({ name: file.name ?? '', type: file.type || 'application/octet-stream', data: reader.result.split(',')[1] ?? '' });
    reader.readAsDataURL(file);
  });
}

// Does what a browser may not know or may refuse; then it comes to nothing.
function attempt(work) {
  try {
    return work();
  } catch {}
}

// A tab remembers which panels were open; a browser that forbids storage does not.
const remembers = (key) => attempt(() => sessionStorage.getItem(key)) === '1';
const remember = (key, isOpen) => attempt(() => sessionStorage.setItem(key, isOpen ? '1' : '0'));

// The attributes with a text, by the property of each, and what stands where one is absent.
const ATTRIBUTES = {
  gateway: '/', label: 'Assistant', placement: 'docked', theme: 'system', instructions: '', name: '', thread: '', profile: '',
  agent: 'pagehand', load: 'idle', model: '', provider: '', modelUrl: '',
};

const attributeOf = (property) => (property === 'modelUrl' ? 'model-url' : property);

// What a property says, as its attribute: frameworks hand over `true`, `false` and nothing for "there", "not there".
function reflect(element, property, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(attributeOf(property));
  else element.setAttribute(attributeOf(property), value === true ? '' : value);
}

// Whether a key belongs to an input method. Safari says so by its code alone, once the composition has ended.
const isComposing = (event) => event.isComposing || event.keyCode === 229;

// What a page must not hear of what is typed, pasted or dropped in the panel: it would take it for its own.
const PRIVATE = [
  'keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'copy', 'cut', 'paste', 'compositionstart', 'compositionupdate',
  'compositionend', 'dragenter', 'dragover', 'dragleave', 'drop',
];

class PageHand extends HTMLElement {
  static observedAttributes = ['open', 'label', 'placement', 'model', 'provider', 'model-url'];

  #root = this.attachShadow({ mode: 'open' });
  #launcher = element('button', { type: 'button', className: 'launcher', part: 'launcher' });
  #frame = element('div', { className: 'frame', part: 'frame', hidden: true });
  #mount = element('div', { className: 'mount' });
  #instance;
  #mounting;
  // What the page has said, by what it is about: said again to each panel that is mounted.
  #said = new Map();
  #callbacks = 0;
  // The model that the page asks by itself.
  #direct;
  // Of each answer that is waited for, what gives it up.
  #asked = new Set();
  // Counts up when the element leaves the page: what began before that is not for the panel that comes then.
  #life = 0;
  #idle;
  // The panel's own style sheet, once it is known.
  #css;
  // Whether the tab remembers the panel as open. Not an attribute: a framework that takes over a page's markup compares.
  #isRemembered;
  // Whether the last Escape was for the page to use.
  #isLetOut = false;
  // What is written and not sent, from a panel that died to the next one.
  #draft;
  #note = element('p', { className: 'note', role: 'status' });

  constructor() {
    super();
    adopt(this.#root, SHEET);
    this.#frame.append(this.#mount, this.#note);
    this.#root.append(this.#launcher, this.#frame);
    this.#launcher.addEventListener('click', () => this.#opened());
    for (const type of PRIVATE) this.#root.addEventListener(type, this.#keep);
    // What was set before the element was defined stands in the way of the properties it has now.
    for (const property of [...Object.keys(ATTRIBUTES), 'open']) {
      if (!Object.prototype.hasOwnProperty.call(this, property)) continue;
      const value = this[property];
      delete this[property];
      if (property === 'open') this.#isRemembered = false;
      reflect(this, property, value);
    }
  }

  connectedCallback() {
    if ((this.#text('model') || this.#text('provider')) && !this.#said.has('model')) this.#answeredBy();
    this.#isRemembered ??= remembers(this.#key);
    this.#show();
    if (this.#isShown) this.#ready();
    else if (this.#text('load') !== 'open') {
      const load = () => this.#ready();
      this.#idle = attempt(() => requestIdleCallback(load)) ?? setTimeout(load, 1500);
    }
  }

  // The browser moves it with everything in it.
  connectedMoveCallback() {}

  adoptedCallback() {
    this.#root.adoptedStyleSheets = [];
    for (const css of [SHEET, this.#css]) if (css) adopt(this.#root, css);
  }

  disconnectedCallback() {
    // Who moves an element, by hand or with a framework, has put it back within a task. The second timer lets whoever set
    // one of theirs at the same time go first.
    setTimeout(() => setTimeout(() => this.#end()));
  }

  #end() {
    if (this.isConnected) return;
    attempt(() => cancelIdleCallback(this.#idle));
    clearTimeout(this.#idle);
    this.#life += 1;
    this.#isRemembered = undefined;
    this.#leave();
    this.#fit();
    this.#giveUp('the element was removed');
    const instance = this.#instance;
    this.#instance = this.#mounting = undefined;
    try {
      instance?.unmount();
      instance?.free();
    } finally {
      this.#mount.replaceChildren();
    }
  }

  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name === 'label') this.#instance?.setLabel(this.#text('label'));
    if (/^model|provider/.test(name)) this.#answeredBy();
    this.#show();
    if (name === 'open' && this.#isShown) this.#ready();
  }

  // As an attribute it says whether the panel is shown, as a method it shows it: frameworks set the one, pages call the other.
  get open() { return this.#open; }
  set open(value) {
    this.#isRemembered = false;
    reflect(this, 'open', value);
    this.#show();
  }
  get isOpen() { return this.#isShown; }
  get threadId() { return this.#instance?.thread ?? null; }
  get tools() { return this.#instance?.tools() ?? []; }

  close() { this.#close(); }

  focus(options) { this.#focus(options); }

  async send(prompt) {
    const said = await whole(prompt);
    return (await this.#ready()).send(said) ?? null;
  }

  // The run of this very message is listened for, whatever else is said meanwhile.
  async ask(prompt) {
    if (!prompt?.output) throw fault('invalid_prompt', 'ask wants { text, output }');
    const said = await whole(prompt);
    const panel = await this.#ready();
    const over = new AbortController();
    const heard = {};
    heard.promise = new Promise((resolve, reject) => Object.assign(heard, { resolve, reject }));
    const hear = (what, work) => this.addEventListener(`pagehand-${what}`, ({ detail }) => work(detail), { signal: over.signal });
    let failure;
    const give = (reason) => {
      const error = fault('no_output', `there is no answer of that form: ${failure?.message ?? reason}`);
      heard.reject(Object.assign(error, { reason, cause: failure }));
    };
    let message;
    let run;
    let answer;
    hear('run-start', ({ runId, messageId }) => {
      if (messageId === message) run = runId;
    });
    hear('output', ({ value }) => {
      if (run) answer = { value };
    });
    hear('error', (detail) => {
      if (run) failure = detail;
    });
    hear('run-end', ({ runId, reason }) => {
      if (runId === run) answer ? heard.resolve(answer.value) : give(reason);
    });
    this.#asked.add(give);
    try {
      message = panel.send(said);
      if (!message) throw fault('invalid_prompt', 'ask wants a text, or a file');
      return await heard.promise;
    } finally {
      over.abort();
      this.#asked.delete(give);
    }
  }

  useModel(model) { return this.#useModel(model); }

  #useModel(model) {
    const elsewhere = model && typeof model === 'object';
    this.#direct = elsewhere ? { ...model } : undefined;
    return this.#say('model', (panel) => {
      if (!elsewhere) return panel.setModel(String(model ?? ''));
      if (!panel.useModel) throw fault('not_direct', 'this build asks models through a gateway alone; load page-hand-direct.js');
      return panel.useModel(this.#direct);
    });
  }

  async forgetKey() {
    // It is not said to the next panel either.
    if (this.#direct) delete this.#direct.key;
    (await this.#ready()).forgetKey?.();
  }

  async stop() { this.#instance?.stop(); }
  async newThread() { (await this.#ready()).newThread(); }
  async openThread(id) {
    (await this.#ready()).openThread(String(id));
    this.#giveUp('another thread was opened');
  }
  async threads() { return (await this.#ready()).threads(); }
  async deleteThread(id) { return (await this.#ready()).deleteThread(String(id)); }
  async exportThread() { return (await this.#ready()).exportThread(); }
  async importThread(file) { return (await this.#ready()).importThread(typeof file === 'string' ? JSON.parse(file) : file); }
  async takeOver() { (await this.#ready()).takeOver(); }

  get registry() { return { report: () => this.#instance?.report() ?? null }; }

  registerTool(tool) {
    const { definition, run, edit } = parts(tool);
    return this.#sayNew(`tool:${definition.name}`, (panel) => panel.registerTool(definition, run, edit));
  }

  async unregisterTool(name) {
    const ours = this.#said.has(`tool:${name}`);
    const gone = await this.#unsay(`tool:${name}`, (panel) => panel.unregisterTool(name));
    // One that every panel brings along is taken out of the next one, too.
    if (gone && !ours) this.#say(`without:${name}`, (panel) => panel.unregisterTool(name));
    return gone;
  }

  async registerToolset(toolset) {
    const { tools, open, ...rest } = toolset ?? {};
    const given = { ...rest, tools: Array.from(tools ?? [], parts) };
    // Each panel closes what it holds; one that comes back opens it again.
    await this.#sayNew(`toolset:${given.name}`, (panel) => {
      panel.registerToolset(given);
      open?.();
    });
    return { close: () => this.#unsay(`toolset:${given.name}`, (panel) => panel.closeToolset(given.name)) };
  }

  async registerEditor({ name, owner = '', order = 0, edit } = {}) {
    await this.#sayNew(`tool:${name}`, (panel) => panel.registerEditor(String(name), String(owner), order, edit));
  }

  async definePolicy(rules) {
    if (this.#said.has('policy')) throw fault('policy_locked', 'the policy of this element is defined already');
    return this.#say('policy', (panel) => panel.definePolicy(rules));
  }

  setFacts(facts) { return this.#say('facts', (panel) => panel.setFacts(facts)); }
  setLimits(limits) { return this.#say('limits', (panel) => panel.setLimits(limits)); }
  setUser(user) { return this.#say('user', (panel) => panel.setUser(user)); }
  setMemory(search) { return this.#say('memory', (panel) => panel.setMemory(search)); }
  expectTools(tools) { return this.#say('expected', (panel) => panel.expect(tools)); }

  on(when, callback, { name = callback.name || 'callback' } = {}) {
    const key = `callback:${(this.#callbacks += 1)}`;
    const known = `${name}#${this.#callbacks}`;
    const said = this.#say(key, (panel) => panel.addCallback(when, known, callback));
    said.catch(() => {});
    return { ready: said, remove: () => this.#unsay(key, (panel) => panel.removeCallback(known)) };
  }

  async complete(callId, answer) { return (await this.#ready()).complete(String(callId), answer); }
  async cancelJob(callId) { return (await this.#ready()).cancelJob(String(callId)); }
  async decide(callId, decision) { return (await this.#ready()).decide(String(callId), decision); }

  // It waits for the panel, however often that has to be tried: what a page registers is no reason to load it.
  #say(key, say) {
    // What is said anew before it was heard needs no hearing.
    this.#said.get(key)?.resolve();
    const said = new Promise((resolve, reject) => this.#said.set(key, { say, resolve, reject }));
    if (this.#instance) this.#tell(key);
    return said;
  }

  async #sayNew(key, say) {
    if (this.#said.has(key)) {
      const [kind, name] = key.split(':');
      throw fault('invalid_tool', `${kind} "${name}" is registered already; unregister it first`);
    }
    return this.#say(key, say);
  }

  async #unsay(key, unsay) {
    const known = this.#said.get(key);
    this.#said.delete(key);
    known?.resolve();
    return (this.#instance && unsay(this.#instance)) ?? Boolean(known);
  }

  #tell(key) {
    const [said, instance] = [this.#said.get(key), this.#instance];
    if (!said || !instance) return;
    const { say, resolve, reject } = said;
    try {
      say(instance);
      resolve();
    } catch (error) {
      // A panel that died of it, or was dead, is no judge the first time: the next one is told, too.
      if (instance !== this.#instance && !said.again) return (said.again = true);
      this.#said.delete(key);
      reject(error);
    }
  }

  // As the attributes say; a key is never one of them.
  #answeredBy() {
    const [provider, url, model] = ['provider', 'model-url', 'model'].map((name) => this.getAttribute(name) ?? undefined);
    this.#useModel(provider || url ? { provider, url, model } : model).catch((error) => {
      console.error(`page-hand: ${error.message}`);
      this.#dispatch('log', { text: error.message });
    });
  }

  #open = () => {
    this.setAttribute('open', '');
    remember(this.#key, true);
    return this.#ready().then(() => this.#focus());
  };

  #close() {
    const within = this.matches(':focus-within');
    this.#isRemembered = false;
    this.removeAttribute('open');
    this.#show();
    remember(this.#key, false);
    if (within) this.#launcher.focus({ preventScroll: true });
  }

  #focus(options) { (this.#area ?? this.#launcher).focus({ preventScroll: true, ...options }); }

  // By the user's own hand: what goes wrong is shown, and there is nobody else to tell.
  #opened() { this.#open().catch(() => {}); }

  // Escape goes to the innermost thing that can close: what is in the panel has had it by now, and the page has it last.
  #keep = (event) => {
    if (event.key === 'Escape' && !isComposing(event)) {
      if (event.type === 'keydown') {
        if (!event.defaultPrevented && this.#isShown && this.#text('placement') === 'floating') {
          event.preventDefault();
          this.#close();
        }
        this.#isLetOut = !event.defaultPrevented;
      }
      if (this.#isLetOut) return;
    } else if (event.target === this.#launcher) return;
    event.stopPropagation();
  };

  #text(property) { return this.getAttribute(attributeOf(property)) ?? ATTRIBUTES[property]; }

  get #key() { return `pagehand.open:${this.#name}`; }
  get #name() { return this.#text('name') || this.id || 'default'; }
  get #area() { return this.#root.querySelector('.composer textarea'); }
  get #isInline() { return this.#text('placement') === 'inline'; }
  // Some frameworks write what is false before the element is defined.
  get #isShown() { return this.#isRemembered || (this.getAttribute('open') ?? 'false') !== 'false' || this.#isInline; }

  #show() {
    const label = this.#text('label');
    if (this.#launcher.textContent !== label) this.#launcher.textContent = label;
    this.#launcher.setAttribute('aria-expanded', String(this.#isShown));
    this.#layer(this.#launcher, !this.#isShown);
    this.#layer(this.#frame, this.#isShown);
    this.#fit();
  }

  // In the top layer nothing of the page covers it, cuts it off or moves it, whatever the page does around the element.
  #layer(part, isShown) {
    part.hidden = !isShown;
    part.popover = this.#isInline ? null : 'manual';
    // Without a top layer the style sheet puts it above the page as well as it can.
    attempt(() => (isShown && !this.#isInline ? part.showPopover() : part.hidePopover()));
  }

  // The keyboard of a phone covers the end of the window; what is left of it is the visual viewport. One that the user has
  // made larger shows a piece of the page, and the panel with it.
  #fit = () => attempt(() => {
    const seen = visualViewport;
    const [isFollowed, { style }] = [this.#isShown && !this.#isInline && this.isConnected, this.#frame];
    for (const type of ['resize', 'scroll']) {
      if (isFollowed) seen.addEventListener(type, this.#fit);
      else seen.removeEventListener(type, this.#fit);
    }
    const covered = isFollowed && seen.scale <= 1.01 ? document.documentElement.clientHeight - seen.height - seen.offsetTop : 0;
    if (covered > 50) {
      style.setProperty('--_vh', `${seen.height}px`);
      style.setProperty('--_vb', `${covered}px`);
    } else for (const name of ['--_vh', '--_vb']) style.removeProperty(name);
  });

  #ready() {
    const life = this.#life;
    this.#mounting ??= this.#start().catch((error) => {
      if (life === this.#life) {
        this.#mounting = undefined;
        this.#leave();
        this.#failed('The panel could not be loaded.');
      }
      throw error;
    });
    // Whoever asked handles the failure, and the panel shows it; nobody else needs to hear of it.
    this.#mounting?.catch(() => {});
    return this.#mounting;
  }

  async #start() {
    const life = this.#life;
    panels.add(this.#renew);
    for (const kind of TRAPS) addEventListener(kind, heard);
    this.#mount.replaceChildren(element('p', { className: 'loading', role: 'status' }, 'Loading …'));
    const { Instance, style } = await load();
    if (!this.isConnected || life !== this.#life) throw new Error('the element was removed while it was loading');
    if (!this.#css) adopt(this.#root, (this.#css = within(style)));
    this.#mount.replaceChildren();
    const said = (property) => [property, this.#text(property)];
    const options = Object.fromEntries(['gateway', 'instructions', 'profile', 'agent', 'thread', 'label'].map(said));
    Object.assign(options, {
      language: this.closest('[lang]')?.lang || navigator.language,
      name: this.#name,
      restarted: Boolean(this.#draft),
    });
    const close = this.#isInline ? undefined : () => this.#close();
    const instance = guarded(within(() => new Instance(this, this.#mount, options, close)));
    this.#instance = instance;
    for (const key of [...this.#said.keys()]) this.#tell(key);
    if (life !== this.#life) throw cause;
    this.#restore();
    this.#dispatch('ready', null);
    return instance;
  }

  // The copy of the module that this panel was of is dead. Nothing of it is called again: not even to free it.
  #renew = (error, often) => {
    const area = this.#area;
    if (area) this.#draft = { area, focused: this.#root.activeElement === area };
    this.#life += 1;
    this.#instance?.__destroy_into_raw();
    this.#instance = this.#mounting = undefined;
    this.#dispatch('restart', { message: error.message });
    if (often) {
      this.#leave();
      this.#failed('The panel failed several times and was stopped.');
    } else this.#ready();
  };

  // The area that died still knows what was in it.
  #restore() {
    if (!this.#draft) return;
    const { area: { value, selectionStart, selectionEnd }, focused } = this.#draft;
    const area = this.#area;
    this.#draft = undefined;
    Object.assign(area, { value, selectionStart, selectionEnd });
    area.dispatchEvent(new Event('input'));
    if (focused) area.focus({ preventScroll: true });
    this.#note.textContent = 'The panel had to be restarted. It goes on where it was.';
    setTimeout(() => (this.#note.textContent = ''), 15_000);
  }

  #giveUp(why) { for (const give of [...this.#asked]) give(why); }

  #leave() {
    panels.delete(this.#renew);
    if (!panels.size) for (const kind of TRAPS) removeEventListener(kind, heard);
  }

  #dispatch(what, detail) {
    this.dispatchEvent(new CustomEvent(`pagehand-${what}`, { bubbles: true, composed: true, detail }));
  }

  #failed(words) {
    const again = element('button', { type: 'button' }, 'Try again');
    again.addEventListener('click', () => this.#opened());
    this.#mount.replaceChildren(element('p', { className: 'loading', role: 'alert' }, words, again));
  }
}

for (const property of Object.keys(ATTRIBUTES)) {
  Object.defineProperty(PageHand.prototype, property, {
    __proto__: null,
    configurable: true,
    get() { return this.getAttribute(attributeOf(property)) ?? ATTRIBUTES[property]; },
    set(value) { reflect(this, property, value); },
  });
}

// Another copy of this script, or an older one, may have been here first.
if (!customElements.get('page-hand')) customElements.define('page-hand', PageHand);

export { PageHand };

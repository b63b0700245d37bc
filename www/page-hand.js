// The custom element <page-hand>: its launcher and frame, and the door to the panel, whose WebAssembly is loaded once
// for all elements of a page: when one is first opened, or when the page has nothing else to do.
//
// A module that traps (a panic, memory that ran out) is never called again: a fresh one takes its place in every element.
//
// Knows nothing of threads, models or tools. The contract is types.d.ts.

const SHEET = `
:host { color-scheme: light dark; --_w: var(--page-hand-width, 400px); }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
:host([hidden]) { display: none; }
:host([placement="inline"]) { display: block; min-block-size: 320px; }
.frame { background: light-dark(#fff, #16181d); color: light-dark(#1b1f24, #e7e9ee); z-index: var(--page-hand-z-index, 2147483000); }
.frame[hidden] { display: none; }
.mount { block-size: 100%; }
:host(:not([placement="inline"])) .frame { position: fixed; inset-block-end: 0; inset-inline-end: 0; inline-size: min(var(--_w), 100vw); block-size: 100dvh; }
:host([placement="inline"]) .frame { position: relative; block-size: 100%; min-block-size: inherit; }
.launcher { position: fixed; inset-block-end: 20px; inset-inline-end: 20px; z-index: var(--page-hand-z-index, 2147483000); font: 600 15px/1 system-ui, sans-serif; padding: 0 18px; min-block-size: 44px; border-radius: 22px; border: 1px solid transparent; cursor: pointer; background: var(--page-hand-accent, light-dark(#0b5cad, #7cb7ff)); color: var(--page-hand-on-accent, light-dark(#fff, #0b1420)); box-shadow: 0 4px 16px rgb(0 0 0 / .25); }
.launcher:focus-visible { outline: 3px solid light-dark(#0b5cad, #7cb7ff); outline-offset: 3px; }
.launcher[hidden] { display: none; }
.loading { font: 15px/1.5 system-ui, sans-serif; padding: 24px; margin: 0; }
.loading button { font: inherit; display: block; margin-block-start: 12px; }
.note { position: absolute; inset-block-start: 56px; inset-inline: 12px; z-index: 1; margin: 0; padding: 8px 12px; font: 14px/1.4 system-ui, sans-serif; border-radius: 8px; background: light-dark(#1b1f24, #e7e9ee); color: light-dark(#fff, #16181d); pointer-events: none; }
.note:empty { opacity: 0; }
@media (min-width: 700px) {
  :host(:not([placement="inline"])) .frame { border-inline-start: 1px solid light-dark(#d8dee4, #30363f); }
  :host([placement="floating"]) .frame { inset-block-end: 20px; inset-inline-end: 20px; block-size: min(640px, 100dvh - 40px); border: 1px solid light-dark(#d8dee4, #30363f); border-radius: 14px; overflow: hidden; box-shadow: 0 12px 40px rgb(0 0 0 / .28); }
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

function adopt(root, css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets.push(sheet);
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

// A tab remembers which panels were open; a browser that forbids storage does not.
function remembered(key, value) {
  try {
    if (value === undefined) return sessionStorage.getItem(key) === '1';
    sessionStorage.setItem(key, value ? '1' : '0');
  } catch {}
  return false;
}

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
  #styled = false;
  // What is written and not sent, from a panel that died to the next one.
  #draft;
  #note = element('p', { className: 'note', role: 'status' });

  constructor() {
    super();
    adopt(this.#root, SHEET);
    this.#frame.append(this.#mount, this.#note);
    this.#root.append(this.#launcher, this.#frame);
    this.#launcher.addEventListener('click', () => this.#opened());
    this.#frame.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !event.defaultPrevented && this.#placement === 'floating') this.close();
    });
  }

  connectedCallback() {
    if (!this.hasAttribute('placement')) this.setAttribute('placement', 'docked');
    if ((this.model || this.getAttribute('provider')) && !this.#said.has('model')) this.#answeredBy();
    if (remembered(this.#key)) this.setAttribute('open', '');
    this.#show();
    if (this.#isShown) this.#ready();
    else if (this.getAttribute('load') !== 'open') {
      const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 1500));
      this.#idle = idle(() => this.#ready());
    }
  }

  disconnectedCallback() {
    // An element that is only moved comes back before this runs.
    queueMicrotask(() => {
      if (this.isConnected) return;
      (globalThis.cancelIdleCallback ?? clearTimeout)(this.#idle);
      this.#life += 1;
      this.#leave();
      this.#giveUp('the element was removed');
      const instance = this.#instance;
      this.#instance = this.#mounting = undefined;
      try {
        instance?.unmount();
        instance?.free();
      } finally {
        this.#mount.replaceChildren();
      }
    });
  }

  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name === 'label') this.#instance?.setLabel(this.#label);
    if (/^model|provider/.test(name)) this.#answeredBy();
    this.#show();
    if (name === 'open' && this.#isShown) this.#ready();
  }

  get gateway() { return this.getAttribute('gateway') ?? '/'; }
  set gateway(value) { this.setAttribute('gateway', value); }
  get label() { return this.#label; }
  set label(value) { this.setAttribute('label', value); }
  get placement() { return this.#placement; }
  set placement(value) { this.setAttribute('placement', value); }
  get theme() { return this.getAttribute('theme') ?? 'system'; }
  set theme(value) { this.setAttribute('theme', value); }
  get instructions() { return this.getAttribute('instructions') ?? ''; }
  set instructions(value) { this.setAttribute('instructions', value); }
  get profile() { return this.getAttribute('profile') ?? ''; }
  set profile(value) { this.setAttribute('profile', value); }
  get agent() { return this.getAttribute('agent') ?? 'pagehand'; }
  set agent(value) { this.setAttribute('agent', value); }
  get model() { return this.getAttribute('model') ?? ''; }
  set model(value) { this.setAttribute('model', value); }
  get isOpen() { return this.#isShown; }
  get threadId() { return this.#instance?.thread ?? null; }
  get tools() { return this.#instance?.tools() ?? []; }

  open() {
    this.setAttribute('open', '');
    remembered(this.#key, true);
    return this.#ready().then(() => this.focus());
  }

  close() {
    const within = this.matches(':focus-within');
    this.removeAttribute('open');
    remembered(this.#key, false);
    if (within) this.#launcher.focus();
  }

  focus(options) {
    (this.#area ?? this.#launcher).focus(options);
  }

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
    const heard = Promise.withResolvers();
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

  useModel(model) {
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

  async complete(callId, answer) { (await this.#ready()).complete(String(callId), answer); }
  async cancelJob(callId) { (await this.#ready()).cancelJob(String(callId)); }
  async decide(callId, decision) { (await this.#ready()).decide(String(callId), decision); }

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
    this.useModel(provider || url ? { provider, url, model } : model).catch((error) => {
      console.error(`page-hand: ${error.message}`);
      this.#dispatch('log', { text: error.message });
    });
  }

  // By the user's own hand: what goes wrong is shown, and there is nobody else to tell.
  #opened() { this.open().catch(() => {}); }

  get #key() { return `pagehand.open:${this.#name}`; }
  get #name() { return this.getAttribute('name') || this.id || 'default'; }
  get #label() { return this.getAttribute('label') ?? 'Assistant'; }
  get #placement() { return this.getAttribute('placement') ?? 'docked'; }
  get #area() { return this.#root.querySelector('.composer textarea'); }
  get #isShown() { return this.hasAttribute('open') || this.#placement === 'inline'; }

  #show() {
    this.#launcher.textContent = this.#label;
    this.#launcher.setAttribute('aria-expanded', String(this.#isShown));
    this.#launcher.hidden = this.#isShown;
    this.#frame.hidden = !this.#isShown;
  }

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
    if (!this.#styled) {
      this.#styled = true;
      adopt(this.#root, within(style));
    }
    this.#mount.replaceChildren();
    const { gateway, instructions, profile, agent } = this;
    const language = this.closest('[lang]')?.lang || navigator.language;
    const thread = this.getAttribute('thread') ?? '';
    const restarted = Boolean(this.#draft);
    const options = { gateway, instructions, profile, agent, language, thread, restarted, name: this.#name, label: this.#label };
    const close = this.#placement === 'inline' ? undefined : () => this.close();
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
    if (focused) area.focus();
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

// Another copy of this script, or an older one, may have been here first.
if (!customElements.get('page-hand')) customElements.define('page-hand', PageHand);

export { PageHand };

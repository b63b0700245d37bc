// The panel as a person meets it, and the element's events as a page hears them.

import { EventEmitter, once } from 'node:events';

const EVENTS = ['ready', 'restart', 'run-start', 'tool-call', 'run-end', 'error', 'navigate'];
const PATIENCE_MS = 30_000;

export class Hand {
  /** Every event of every `<page-hand>` of this page so far, over all its reloads: `{ type, detail, at, target }`. */
  events = [];
  /** The bodies of every `POST /agent`. */
  asked = [];
  /** What the browser complained of and nobody expected. */
  complaints = [];
  #expected = [];
  #heard = new EventEmitter().setMaxListeners(100);

  constructor(page) {
    this.page = page;
    this.panel = page.locator('page-hand').getByRole('region');
    this.composer = page.getByRole('textbox', { name: 'Message to the agent' });
    this.thread = page.getByRole('group', { name: 'Conversation' });
    this.approval = page.getByRole('group', { name: 'Approval' });
  }

  async watch() {
    const { page } = this;
    page.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') this.#complain(`${line.type()}: ${line.text()} (${line.location().url})`);
    });
    page.on('pageerror', (error) => this.#complain(`page error: ${error.stack ?? error.message}`));
    page.on('request', (request) => {
      if (request.method() === 'POST' && new URL(request.url()).pathname === '/agent') this.asked.push(request.postDataJSON());
    });
    await page.exposeFunction('pagehandHeard', (event) => {
      if (event.type === 'securitypolicyviolation') return this.#complain(`policy: ${event.detail}`);
      this.events.push(event);
      this.#heard.emit('event', event);
    });
    await page.addInitScript((names) => {
      const tell = (event, detail) => window.pagehandHeard({
        type: event.type.replace('pagehand-', ''),
        detail,
        at: performance.timeOrigin + performance.now(),
        target: event.target?.id ?? '',
      });
      for (const name of names) document.addEventListener(`pagehand-${name}`, (event) => tell(event, JSON.parse(JSON.stringify(event.detail))), true);
      document.addEventListener('securitypolicyviolation', (event) =>
        tell(event, `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`));
    }, EVENTS);
    return this;
  }

  /** Names complaints that are part of the journey. */
  expects(...patterns) {
    this.#expected.push(...patterns);
    this.complaints = this.complaints.filter((text) => !patterns.some((pattern) => pattern.test(text)));
  }

  #complain(text) {
    if (!this.#expected.some((pattern) => pattern.test(text))) this.complaints.push(text);
  }

  /** The first event that fits, from `since` (an index into `events`; the next one where absent). */
  async heard(type, fits = () => true, since = this.events.length, within = PATIENCE_MS) {
    const signal = AbortSignal.timeout(within);
    const isIt = (event) => event.type === type && fits(event.detail, event);
    try {
      for (;;) {
        const found = this.events.slice(since).find(isIt);
        if (found) return found;
        await once(this.#heard, 'event', { signal });
      }
    } catch (error) {
      const seen = this.events.slice(since).map((event) => `${event.type} ${JSON.stringify(event.detail)}`);
      throw new Error(`no such pagehand-${type} within ${within} ms; heard:\n${seen.join('\n')}`, { cause: error });
    }
  }

  /** Opens the panel by its launcher, where it is not open. */
  async open(name = 'Pagehand') {
    await this.page.getByRole('button', { name, exact: true }).click();
    await this.composer.waitFor();
  }

  /** Writes a message and sends it; the answer is not awaited. */
  async say(text) {
    const since = this.events.length;
    await this.composer.fill(text);
    await this.composer.press('Enter');
    await this.heard('run-start', () => true, since);
    return since;
  }

  /** Writes a message and waits for the run's end; resolves to its reason. */
  async ask(text, within) {
    const since = await this.say(text);
    return this.ended(since, within);
  }

  /** The reason of the next run that ends; by then what it changed is on screen. */
  async ended(since, within) {
    const { reason } = (await this.heard('run-end', () => true, since, within)).detail;
    await this.painted();
    return reason;
  }

  /** Waits until what is known is shown: views follow events within a frame. */
  async painted() {
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
  }

  /** The card of a call, the newest where there are several. */
  card(tool) {
    return this.page.locator(`page-hand [data-tool="${tool}"]`).last();
  }

  /** Waits until a call's card shows a state. */
  async shows(tool, state) {
    await this.page.locator(`page-hand [data-tool="${tool}"][data-state="${state}"]`).last().waitFor();
  }

  /** The banner's words. */
  banner(text) {
    return this.page.locator('page-hand').getByRole('status').filter({ hasText: text });
  }

  button(name) {
    return this.page.locator('page-hand').getByRole('button', { name, exact: true });
  }

  /** The text of everything in the thread: what has just been put there has none before it is painted. */
  async words() {
    await this.painted();
    return this.thread.innerText();
  }

  /** The calls so far, by name, in order, with the states each went through. */
  calls(since = 0) {
    const calls = new Map();
    for (const { type, detail, at } of this.events.slice(since)) {
      if (type !== 'tool-call') continue;
      const call = calls.get(detail.callId) ?? { ...detail, states: [], at: {} };
      call.states.push(detail.state);
      call.at[detail.state] ??= at;
      calls.set(detail.callId, call);
    }
    return [...calls.values()];
  }

  async get(path) {
    return (await this.page.request.get(new URL(path, this.page.url()).href)).json();
  }
}

// Every interface of the browser that we touch, as it is where it is missing, refuses at once, refuses later, or never
// answers: the panel is there, and a message is answered.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { once, startHost } from './support/host.mjs';
import { journey } from './support/journey.mjs';

const shop = once(() => startHost());
after(() => shop.stop());

const EVERY = ['absent', 'throws', 'rejects', 'silent'];
const SYNCHRONOUS = ['absent', 'throws'];

// By interface: which faults it can have; `lost` are those where nothing can be kept.
const MATRIX = {
  'navigator.locks': { faults: [...EVERY, 'refused'] },
  indexedDB: { faults: [...EVERY, 'refused'], lost: [...EVERY, 'refused'] },
  sessionStorage: { faults: [...SYNCHRONOUS, 'refused'] },
  localStorage: { faults: [...SYNCHRONOUS, 'refused'] },
  BroadcastChannel: { faults: [...SYNCHRONOUS, 'refused', 'silent'] },
  'navigator.clipboard': { faults: [...EVERY, 'refused'] },
  'navigator.onLine': { faults: ['absent', 'lies', 'refused'] },
  visualViewport: { faults: [...SYNCHRONOUS, 'refused'] },
  ResizeObserver: { faults: [...SYNCHRONOUS, 'silent'] },
  'crypto.randomUUID': { faults: SYNCHRONOUS },
  'Promise.withResolvers': { faults: ['absent'] },
  requestIdleCallback: { faults: [...SYNCHRONOUS, 'silent'] },
  matchMedia: { faults: SYNCHRONOUS },
  'light-dark()': { faults: ['absent'] },
  popover: { faults: SYNCHRONOUS },
  'field-sizing': { faults: ['absent'] },
  'everything but plain http': { faults: ['absent'] },
  'every storage at once': { faults: ['refused'], lost: ['refused'] },
};

const SAID = {
  absent: 'is absent', throws: 'throws at once', rejects: 'rejects later', silent: 'never answers',
  refused: 'can not even be looked at', lies: 'lies',
};

// Runs in the page, before anything of it.
function spoil({ name, fault }) {
  const refusal = () => new DOMException('The operation is insecure.', 'SecurityError');
  const refuse = () => { throw refusal(); };
  const define = (object, key, descriptor) => Object.defineProperty(object, key, { configurable: true, ...descriptor });
  const remove = (object, key) => {
    for (let at = object; at; at = Object.getPrototypeOf(at)) delete at[key];
    if (key in object) define(object, key, { value: undefined });
  };
  // A function of an interface; `later` makes what is not settled.
  const instead = (object, key, later = (how) => how === 'silent' ? new Promise(() => {}) : new Promise((_, reject) => setTimeout(() => reject(refusal()), 30))) => {
    if (fault === 'absent') return remove(object, key);
    define(object, key, { writable: true, value: fault === 'throws' ? refuse : () => later(fault) });
  };
  const gone = (holder, key) => {
    if (fault === 'refused') define(holder, key, { get: refuse });
    else remove(holder, key);
  };
  const rewrite = (change) => {
    for (const method of ['replaceSync', 'replace', 'insertRule']) {
      const native = CSSStyleSheet.prototype[method];
      CSSStyleSheet.prototype[method] = function (text, ...rest) { return native.call(this, change(text), ...rest); };
    }
  };
  const supports = CSS.supports;
  const unsupported = (pattern) => (CSS.supports = (...given) => !pattern.test(given.join(':')) && supports.apply(CSS, given));
  const spoilers = {
    'navigator.locks'() {
      if (fault === 'absent' || fault === 'refused') return gone(navigator, 'locks');
      for (const key of ['request', 'query']) instead(LockManager.prototype, key);
    },
    indexedDB() {
      if (fault === 'absent' || fault === 'refused') return gone(window, 'indexedDB');
      if (fault === 'throws') return instead(IDBFactory.prototype, 'open');
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = function (name) {
        const request = open.call(this, `${name}-${fault}-${Math.random()}`, 1);
        const swallow = (event) => {
          event.stopImmediatePropagation();
          if (fault === 'rejects') request.transaction.abort();
        };
        for (const kind of fault === 'rejects' ? ['upgradeneeded'] : ['upgradeneeded', 'success', 'error', 'blocked']) request.addEventListener(kind, swallow);
        return request;
      };
    },
    sessionStorage: () => storage('sessionStorage'),
    localStorage: () => storage('localStorage'),
    BroadcastChannel() {
      if (fault === 'absent') return remove(window, 'BroadcastChannel');
      if (fault === 'silent') return (BroadcastChannel.prototype.postMessage = () => {});
      if (fault === 'throws') return (BroadcastChannel.prototype.postMessage = refuse);
      window.BroadcastChannel = class { constructor() { refuse(); } };
    },
    'navigator.clipboard'() {
      if (fault === 'absent' || fault === 'refused') return gone(navigator, 'clipboard');
      for (const key of ['write', 'writeText', 'read', 'readText']) instead(Clipboard.prototype, key);
    },
    'navigator.onLine'() {
      if (fault === 'lies') define(navigator, 'onLine', { get: () => false });
      else gone(navigator, 'onLine');
    },
    visualViewport() {
      if (fault !== 'throws') return gone(window, 'visualViewport');
      define(window, 'visualViewport', { value: new Proxy({}, { get: refuse }) });
    },
    ResizeObserver() {
      if (fault === 'absent') return remove(window, 'ResizeObserver');
      window.ResizeObserver = class {
        constructor() { if (fault === 'throws') refuse(); }
        observe() {}
        unobserve() {}
        disconnect() {}
      };
    },
    'crypto.randomUUID': () => instead(Crypto.prototype, 'randomUUID'),
    'Promise.withResolvers': () => remove(Promise, 'withResolvers'),
    requestIdleCallback() {
      instead(window, 'requestIdleCallback', () => 1);
      if (fault === 'absent') remove(window, 'cancelIdleCallback');
    },
    matchMedia: () => instead(window, 'matchMedia'),
    'light-dark()'() {
      rewrite((text) => text.replaceAll('light-dark(', 'no-such-function('));
      unsupported(/light-dark/);
    },
    popover() {
      for (const key of ['showPopover', 'hidePopover', 'togglePopover']) instead(HTMLElement.prototype, key);
      if (fault === 'absent') remove(HTMLElement.prototype, 'popover');
      if (fault === 'absent') unsupported(/popover-open/);
    },
    'field-sizing'() {
      rewrite((text) => text.replaceAll('field-sizing', 'no-such-property'));
      unsupported(/field-sizing/);
    },
    // What a page has only on https and localhost.
    'everything but plain http'() {
      for (const key of ['locks', 'clipboard', 'serviceWorker', 'storage', 'credentials']) remove(navigator, key);
      for (const key of ['randomUUID', 'subtle']) remove(crypto, key);
      remove(window, 'caches');
      define(window, 'isSecureContext', { get: () => false });
    },
    'every storage at once'() {
      for (const key of ['sessionStorage', 'localStorage', 'indexedDB', 'caches']) define(window, key, { get: refuse });
      LockManager.prototype.request = () => new Promise((_, reject) => setTimeout(() => reject(refusal())));
      window.BroadcastChannel = class { constructor() { refuse(); } };
    },
  };
  function storage(key) {
    if (fault !== 'throws') return gone(window, key);
    const held = new Proxy({}, { get: (_, name) => (typeof Storage.prototype[name] === 'function' ? refuse : undefined) });
    define(window, key, { get: () => held });
  }
  spoilers[name]();
}

// What one more than the message shows.
const AFTERWARDS = {
  async 'navigator.clipboard'({ page, hand }) {
    assert.equal(await hand.ask('write a long answer', 20_000), 'completed');
    await page.locator('page-hand .copy').first().click();
    await hand.painted();
  },
  async 'Promise.withResolvers'({ page }) {
    const ask = (element) => element.ask({ text: 'hello', output: { schema: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } } } }).then(() => 'answered', ({ code, message }) => code ?? message);
    assert.match(await page.locator('page-hand').evaluate(ask), /^(answered|no_output)$/);
  },
  async 'light-dark()'({ page, hand }) {
    const bright = (locator, property) => locator.evaluate((element, property) => {
      const [red, green, blue, alpha = 1] = getComputedStyle(element).getPropertyValue(property).match(/[\d.]+/g).map(Number);
      return alpha < 1 ? `see-through (${alpha})` : Math.round((red * 2 + green * 5 + blue) / 8);
    }, property);
    for (const [theme, isRight] of [['light', (back, words) => back > 200 && words < 100], ['dark', (back, words) => back < 60 && words > 180]]) {
      await page.locator('page-hand').evaluate((element, theme) => element.setAttribute('theme', theme), theme);
      const [back, words] = [await bright(hand.panel, 'background-color'), await bright(hand.composer, 'color')];
      assert.ok(isRight(back, words), `${theme}: a background of ${back} and words of ${words}, of 255`);
    }
  },
  async popover({ page, hand }) {
    const box = await hand.panel.boundingBox();
    assert.ok(box.x + box.width > 1270 && box.height > 790, `it is docked: ${JSON.stringify(box)}`);
    await hand.button('Close').click();
    assert.equal(await hand.composer.count(), 0);
    await hand.open('Assistant');
  },
  async 'field-sizing'({ hand }) {
    const low = (await hand.composer.boundingBox()).height;
    await hand.composer.fill('a\nb\nc\nd');
    await hand.painted();
    const high = (await hand.composer.boundingBox()).height;
    assert.ok(high > low + 40, `four lines are ${high} px high, one is ${low}`);
    await hand.composer.fill('');
    await hand.painted();
    assert.equal((await hand.composer.boundingBox()).height, low);
  },
};

for (const [name, { faults, lost = [] }] of Object.entries(MATRIX)) {
  for (const fault of faults) {
    const keeps = !lost.includes(fault);
    journey(`${name} ${SAID[fault]}: a message is answered${keeps ? '' : ', and the panel says that nothing is kept'}`, { gateway: false }, async ({ page, hand }) => {
      const { url } = await shop.get();
      page.setDefaultTimeout(20_000);
      await page.addInitScript(spoil, { name, fault });
      await page.goto(`${url}/hosts/bare.html`);
      await hand.open('Assistant');
      await hand.composer.fill('where is order A-1042?');
      await hand.composer.press('Enter');
      await page.locator('page-hand [part~="assistant-message"]').filter({ hasText: 'A-1042' }).waitFor();
      assert.equal((await hand.heard('run-end', () => true, 0, 20_000)).detail.reason, 'completed');
      await hand.painted();
      if (!keeps) await hand.banner('This conversation is not being saved').waitFor();
      else assert.equal(await hand.banner('not being saved').count(), 0, 'it is kept');
      assert.equal(await hand.banner('open in another tab').count(), 0);
      assert.equal(await hand.banner('offline').count(), 0);
      await AFTERWARDS[name]?.({ page, hand });
      assert.equal(await hand.ask('and A-1043?', 20_000), 'completed');
    });
  }
}

// <page-hand> in pages that mean it no good, or never thought of it: each of `hosts/` imitates some that there are.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { chromium } from 'playwright-core';
import { Hand } from './support/hand.mjs';
import { once, startHost } from './support/host.mjs';
import { journey } from './support/journey.mjs';
import { last, startModel } from './support/model.mjs';
import { isValid } from './support/thread.mjs';

const MARKDOWN = `## A heading

Some **bold** and *leaning* words, \`code\`, and [a link](https://a.example/).

- one
- two

1. first
2. second

| article | price |
|---|---:|
| Tent | 120 |
| a \`wide\` cell | 7 |

> quoted

\`\`\`js
const answer = 42;
\`\`\``;
const LONG = Array.from({ length: 30 }, (_, at) => `Paragraph ${at}: the quick brown fox jumps over the lazy dog.`).join('\n\n');

// What the scripted model answers, by what the user wrote.
const ANSWERS = {
  markdown: { text: MARKDOWN },
  long: { text: LONG },
  clear: { calls: [{ name: 'cart_clear', arguments: { reason: 'it is full' } }] },
  values: {
    calls: [
      { name: 'give_root' }, { name: 'give_nested' }, { name: 'give_dates' }, { name: 'give_instances' },
      { name: 'give_back', arguments: { list: [1, [2, []]], when: '2026-01-02T03:04:05.678Z', none: [], words: 'a "quoted" word' } },
    ],
  },
};

const model = once(() => startModel((body) => {
  const { role, content } = last(body);
  const said = JSON.stringify(content);
  if (role !== 'user') return { text: 'done' };
  if (said.includes('wait')) return new Promise(() => {});
  return Object.entries(ANSWERS).find(([word]) => said.includes(word))?.[1] ?? { text: `You said: ${said}` };
}));
const scripted = once(async () => startHost({ env: (await model.get()).env }));
const shop = once(() => startHost());
after(async () => {
  await scripted.stop();
  await shop.stop();
  await model.stop();
});

const bare = { gateway: false };
const PATIENCE_MS = 10_000;
const element = (page, work, given) => page.locator('page-hand').evaluate(work, given);
const part = (page, name) => page.locator(`page-hand [part~="${name}"]`);
const openByScript = async (page) => {
  await page.waitForFunction(() => customElements.get('page-hand'));
  await element(page, (element) => element.open());
  await part(page, 'input').waitFor({ state: 'attached' });
};
const registerClear = (page) => element(page, (element) => element.registerTool({
  name: 'cart_clear', owner: 'shop', risk: 'irreversible', label: 'Empty the cart',
  description: 'Takes everything out of the shopping cart of this page.', run: ({ reason }) => reason,
  parameters: { type: 'object', properties: { reason: { type: 'string' } }, required: ['reason'] },
}));

// ---------------------------------------------------------------- how it looks

// The same conversation in a page of `hosts/`, by script alone: what the pointer meets is asked elsewhere.
async function conversation(browser, path) {
  const { url } = await scripted.get();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  context.setDefaultTimeout(8000);
  const page = await context.newPage();
  const hand = await new Hand(page).watch();
  await page.goto(url + path);
  await page.waitForFunction(() => customElements.get('page-hand'));
  const launcher = /inline/.test(path) ? undefined : await pictures(page, hand, 'launcher');
  await openByScript(page);
  await registerClear(page);
  await element(page, (element) => element.send('markdown'));
  await hand.ended(0);
  await element(page, (element) => element.send('clear'));
  await part(page, 'approval').waitFor({ state: 'attached' });
  await element(page, (element) => element.focus());
  const frame = await pictures(page, hand, 'frame');
  assert.deepEqual(hand.complaints, []);
  return { launcher, frame, close: () => context.close() };
}

async function pictures(page, hand, name) {
  const seen = {};
  for (const theme of ['light', 'dark']) {
    await element(page, (element, theme) => element.setAttribute('theme', theme), theme);
    await hand.painted();
    await page.evaluate(() => document.fonts.ready);
    const clip = await part(page, name).evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    });
    seen[theme] = { clip, styles: await styles(page, name), picture: await page.screenshot({ clip, animations: 'disabled' }) };
  }
  return seen;
}

// Every computed style of everything in a part, but for what is said to screen readers alone: it comes and goes.
const styles = (page, name) => part(page, name).evaluate((top) => [top, ...top.querySelectorAll(':not([role="log"], [role="log"] *)')].map((element) => {
  const computed = getComputedStyle(element);
  return { of: element.localName + [...element.classList].map((one) => `.${one}`).join(''), style: Object.fromEntries([...computed].map((one) => [one, computed.getPropertyValue(one)])) };
}));

function differences(one, two) {
  const found = one.flatMap(({ of, style }, at) => {
    const other = two[at];
    if (other?.of !== of) return [`${of} stands where ${other?.of} stands`];
    return Object.keys(style).filter((name) => style[name] !== other.style[name]).map((name) => `${of} ${name}: ${other.style[name]} and not ${style[name]}`);
  });
  return one.length === two.length ? found : [`${one.length} elements, and ${two.length}`, ...found];
}

// How many pixels are another colour, by more than an eye can see.
const differ = (page, one, two) => page.evaluate(async (texts) => {
  const [a, b] = await Promise.all(texts.map(async (text) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob());
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const context = canvas.getContext('2d');
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, picture.width, picture.height);
  }));
  if (a.width !== b.width || a.height !== b.height) return Infinity;
  let count = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    count += Number([0, 1, 2].some((channel) => Math.abs(a.data[at + channel] - b.data[at + channel]) > 16));
  }
  return count;
}, [one, two].map((picture) => picture.toString('base64')));

for (const placement of ['docked', 'floating', 'inline']) {
  journey(`the ${placement} panel looks the same whatever styles the page's own elements pass on`, bare, async ({ page }) => {
    const browser = page.context().browser();
    const plain = await conversation(browser, `/hosts/bare.html?placement=${placement}`);
    const hostile = await conversation(browser, `/hosts/inherited.html?placement=${placement}`);
    const faults = [];
    for (const what of ['launcher', 'frame']) {
      for (const theme of plain[what] ? ['light', 'dark'] : []) {
        const [a, b] = [plain[what][theme], hostile[what][theme]];
        const pixels = a.picture.equals(b.picture) ? 0 : await differ(page, a.picture, b.picture);
        const changed = differences(a.styles, b.styles);
        if (pixels < 20 && !changed.length) continue;
        const folder = new URL('../../target/journeys/', import.meta.url).pathname;
        await mkdir(folder, { recursive: true });
        await writeFile(`${folder}${placement}-${what}-${theme}-bare.png`, a.picture);
        await writeFile(`${folder}${placement}-${what}-${theme}-hostile.png`, b.picture);
        const names = [...new Set(changed.map((line) => / ([\w-]+):/.exec(line)?.[1] ?? line))];
        faults.push(`${what}, ${theme}: ${pixels} pixels differ (at ${JSON.stringify(a.clip)} and ${JSON.stringify(b.clip)}); ${changed.length} styles (${names.join(' ')}), such as\n  ${changed.slice(0, 8).join('\n  ')}`);
      }
    }
    await plain.close();
    await hostile.close();
    assert.equal(faults.join('\n'), '', 'what differs');
  });
}

journey('where the page has taken the pointer from its body, launcher and panel still have it', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  page.setDefaultTimeout(5000);
  await page.goto(`${url}/hosts/inherited.html?placement=floating`);
  await page.getByRole('button', { name: 'Assistant' }).click();
  await hand.composer.click();
  await page.keyboard.type('hello');
  await hand.button('Send').click();
  await hand.heard('run-end', () => true, 0);
  await hand.button('Close').click();
  await page.getByRole('button', { name: 'Assistant' }).waitFor();
});

journey('direction, language and our own custom properties of the page do come through', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/comes-through.html`);
  const launcher = part(page, 'launcher');
  const computed = (locator, ...names) => locator.evaluate((element, names) => names.map((name) => getComputedStyle(element).getPropertyValue(name)), names);
  assert.deepEqual(await computed(launcher, 'background-color', 'color', 'direction'), ['rgb(120, 0, 90)', 'rgb(255, 240, 250)', 'rtl']);
  assert.equal(Math.round((await launcher.boundingBox()).x), 20);
  await openByScript(page);
  assert.deepEqual(await computed(hand.panel, 'background-color', 'direction'), ['rgb(250, 245, 235)', 'rtl']);
  assert.deepEqual(await computed(hand.button('Send'), 'background-color'), ['rgb(120, 0, 90)']);
  const box = await part(page, 'frame').boundingBox();
  assert.deepEqual([box.x, box.width], [0, 360]);
  assert.ok(await hand.panel.evaluate((panel) => panel.matches(':lang(ar)')));
});

// ---------------------------------------------------------------- keys, and what comes with them

const fired = (page) => page.evaluate(() => window.fired.splice(0));

journey('what is typed, copied and pasted in the panel is the panel\'s, on a page full of shortcuts', { ...bare, context: { permissions: ['clipboard-read', 'clipboard-write'] } }, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/shortcuts.html`);
  await hand.open('Assistant');
  await hand.composer.click();
  await fired(page);
  const words = 'Where? a/b, j k g i ? / and 3 # x';
  await page.keyboard.type(words);
  assert.equal(await hand.composer.inputValue(), words);
  assert.deepEqual(await fired(page), [], 'typed');

  for (const key of ['ArrowLeft', 'ArrowUp', 'Home', 'ArrowRight', 'End', 'PageDown', 'Space', 'Backspace', 'Shift+Enter', 'Backspace', 'F2', 'Control+k']) await page.keyboard.press(key);
  assert.equal(await hand.composer.inputValue(), words);
  assert.deepEqual(await fired(page), [], 'keys that are no letters');

  for (const key of ['Control+a', 'Control+c', 'Control+x']) await page.keyboard.press(key);
  assert.equal(await hand.composer.inputValue(), '');
  await page.keyboard.press('Control+v');
  await page.keyboard.press('Control+v');
  assert.equal(await hand.composer.inputValue(), words + words);
  assert.deepEqual(await fired(page), [], 'copied, cut and pasted');

  await hand.composer.fill('hello');
  await fired(page);
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('Enter');
  await hand.heard('run-end', () => true, 0);
  assert.deepEqual(await fired(page), [], 'sent');
});

journey('words and files that are dropped on the panel arrive there, and the page does not hear of it', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/shortcuts.html`);
  await hand.open('Assistant');
  await fired(page);
  const { x, y, width, height } = await hand.composer.boundingBox();
  const chrome = await page.context().newCDPSession(page);
  const drop = async (data) => {
    for (const type of ['dragEnter', 'dragOver', 'drop']) await chrome.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data: { dragOperationsMask: 1, ...data } });
    await hand.painted();
  };
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  const file = join(folder, 'notes.txt');
  await writeFile(file, 'x');
  await drop({ items: [], files: [file] });
  await page.getByRole('list', { name: 'Files that go with the message' }).getByText('notes.txt').waitFor({ timeout: PATIENCE_MS });
  await rm(folder, { recursive: true });
  assert.deepEqual(await fired(page), [], 'a file');
  await drop({ items: [{ mimeType: 'text/plain', data: 'dropped words' }], files: [] });
  assert.deepEqual(await fired(page), [], 'words');
  assert.equal(await hand.composer.inputValue(), 'dropped words');
});

journey('what is typed into an approval, or over a button of the panel, is the panel\'s, too', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/shortcuts.html`);
  await hand.open('Assistant');
  await registerClear(page);
  await element(page, (element) => element.send('clear'));
  await hand.approval.waitFor();
  await fired(page);
  const field = hand.approval.getByRole('textbox');
  await field.fill('');
  await field.pressSequentially('{"reason": "/ or ?"}');
  assert.equal(await field.inputValue(), '{"reason": "/ or ?"}');
  await hand.button('New').focus();
  await page.keyboard.press('/');
  await page.keyboard.press('Tab');
  await hand.approval.getByRole('button', { name: 'Approve' }).focus();
  await page.keyboard.press('Space');
  assert.deepEqual(await fired(page), []);
  assert.equal(await hand.ended(0), 'completed');
});

const escapes = async (page) => (await fired(page)).filter((line) => line.startsWith('keydown Escape'));

journey('Escape goes to the innermost thing that can close: the run, the floating panel, and only then the page', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  for (const placement of ['docked', 'floating']) {
    await page.goto(`${url}/hosts/shortcuts.html?placement=${placement}&name=${placement}`);
    await hand.open('Assistant');
    const since = hand.events.length;
    await element(page, (element) => element.send('wait'));
    await hand.button('Stop').waitFor();
    await hand.composer.focus();
    await fired(page);
    await page.keyboard.press('Escape');
    assert.equal(await hand.ended(since), 'stopped');
    assert.equal(await element(page, ({ isOpen }) => isOpen), true, 'it stops the run alone');
    assert.deepEqual(await escapes(page), [], `${placement}: the run used it`);
    await page.keyboard.press('Escape');
    const floats = placement === 'floating';
    assert.equal(await element(page, ({ isOpen }) => isOpen), !floats);
    const heard = await escapes(page);
    if (floats) assert.deepEqual(heard, [], 'the panel used it');
    else assert.ok(heard.some((line) => line.endsWith('at HTMLDocument')), `nothing used it, so the page hears of it: ${heard}`);
  }
});

// ---------------------------------------------------------------- where it stands

const BOXES = ['transform', 'filter', 'contain', 'overflow', 'perspective', 'will-change', 'backdrop-filter', 'container', 'opacity', 'clip-path', 'mask', 'stacked', 'content-visibility'];

// What the pointer meets at five points of a part, and where that is.
const stands = (page, name) => part(page, name).evaluate((element) => {
  const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
  const points = [[.5, .5], [.5, .02], [.5, .98], [.05, .5], [.95, .5]].map(([x, y]) => document.elementFromPoint(left + x * width, top + y * height)?.localName ?? 'nothing');
  return { left: Math.round(left), top: Math.round(top), fromRight: Math.round(innerWidth - right), fromBottom: Math.round(innerHeight - bottom), covered: points.filter((point) => point !== 'page-hand') };
});
const scrolled = (page) => page.evaluate(() => [scrollY, document.querySelector('.box')?.scrollTop ?? 0]);

async function standsApart(page, hand, about) {
  const before = await scrolled(page);
  const faults = [];
  const looks = async (what, name, right) => {
    const seen = await stands(page, name);
    const wrong = Object.keys(right).filter((key) => right[key] !== seen[key]);
    if (wrong.length || seen.covered.length) faults.push(`${about}, ${what}: ${JSON.stringify(seen)}`);
  };
  await looks('launcher', 'launcher', { fromRight: 20, fromBottom: 20 });
  for (const placement of ['docked', 'floating']) {
    await element(page, (element, placement) => element.setAttribute('placement', placement), placement);
    await element(page, (element) => element.open());
    await hand.composer.waitFor();
    await hand.painted();
    await looks(placement, 'frame', placement === 'docked' ? { top: 0, fromRight: 0, fromBottom: 0 } : { fromRight: 20, fromBottom: 20 });
    const after = await scrolled(page);
    if (String(after) !== String(before)) faults.push(`${about}, ${placement}: open() scrolled from ${before} to ${after}`);
    await element(page, (element) => element.close());
    await hand.painted();
    const closed = await scrolled(page);
    if (String(closed) !== String(before)) faults.push(`${about}, ${placement}: close() scrolled from ${before} to ${closed}`);
    await page.evaluate((top) => scrollTo(0, top), before[0]);
  }
  return faults;
}

journey('no box of the page moves, cuts, dims or covers launcher and panel, and opening them scrolls nothing', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/boxed.html`);
  await openByScript(page);
  await element(page, (element) => element.close());
  const faults = [];
  for (const box of ['none', ...BOXES]) {
    await page.evaluate((box) => {
      document.querySelector('.box').className = `box ${box}`;
      scrollTo(0, 1500);
    }, box);
    await hand.painted();
    faults.push(...await standsApart(page, hand, box));
  }
  assert.equal(faults.join('\n'), '');
});

journey('no layer of the page, however high, comes above launcher and panel', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/stacked.html`);
  await openByScript(page);
  await element(page, (element) => element.close());
  await page.evaluate(() => scrollTo(0, 1200));
  assert.equal((await standsApart(page, hand, 'stacked')).join('\n'), '');
});

journey('a modal dialog of the page takes the panel in, with its thread, and gives it back', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  page.setDefaultTimeout(8000);
  await page.goto(`${url}/hosts/modal.html`);
  await hand.open('Assistant');
  await hand.composer.fill('half a mess');
  await page.evaluate(() => document.querySelector('dialog').showModal());
  await page.evaluate(() => document.querySelector('dialog').append(document.querySelector('page-hand')));
  assert.deepEqual((await stands(page, 'frame')).covered, [], 'above the dialog');
  assert.equal(await hand.composer.inputValue(), 'half a mess');
  await hand.composer.click();
  await page.keyboard.press('End');
  await page.keyboard.type('age');
  const since = hand.events.length;
  await page.keyboard.press('Enter');
  assert.equal(await hand.ended(since), 'completed');
  await part(page, 'user-message').filter({ hasText: 'half a message' }).waitFor();
  await hand.button('Close').click();
  await page.getByRole('button', { name: 'Assistant', exact: true }).click();
  await hand.composer.waitFor();
  await page.evaluate(() => {
    document.querySelector('dialog').close();
    document.querySelector('#main').append(document.querySelector('page-hand'));
  });
  assert.deepEqual((await stands(page, 'frame')).covered, []);
  await hand.composer.click();
  assert.equal(await hand.ask('and back'), 'completed');
  assert.equal(hand.events.filter(({ type }) => type === 'ready').length, 1, 'it is the same panel');
});

// ---------------------------------------------------------------- what the page did to the language

const registerGivers = (page) => element(page, async (element) => {
  class Money {
    constructor(cents) { this.cents = cents; }
    get euros() { return this.cents / 100; }
  }
  class Id {
    constructor(id) { this.id = id; }
    toJSON() { return `id-${this.id}`; }
  }
  const tool = (name, run, more) => element.registerTool({ name, owner: 'test', risk: 'read', description: 'Gives a value to the test of this page, as it is.', run, ...more });
  await tool('give_root', () => [1, 2, 3]);
  await tool('give_nested', () => ({ rows: [[1, [2, ['three']]], [], [null, true, 'a "quoted" word']], empty: {}, 'a key': { list: ['x'] } }));
  await tool('give_dates', () => ({ at: new Date('2026-01-02T03:04:05.678Z'), all: [new Date(0)], text: '2026-01-02T03:04:05.678Z' }));
  await tool('give_instances', () => ({ price: new Money(1250), ids: [new Id(7)], left: undefined }));
  await tool('give_back', (given) => ({ ...given, isArray: Array.isArray(given.list), when: typeof given.when }), {
    parameters: {
      type: 'object',
      properties: { list: { type: 'array' }, when: { type: 'string' }, none: { type: 'array' }, words: { type: 'string' } },
      required: ['list', 'when', 'none', 'words'],
    },
  });
});
// Sends a message and waits for the run's end, by nothing but the element.
const says = (page, words) => element(page, (element, words) => new Promise((done, failed) => {
  element.addEventListener('pagehand-run-end', ({ detail }) => done(detail.reason), { once: true });
  setTimeout(() => failed(new Error(`no run ended: ${element.shadowRoot?.textContent}`)), 8000);
  element.send(words).catch(failed);
}), words);
const GIVEN = [
  [1, 2, 3],
  { rows: [[1, [2, ['three']]], [], [null, true, 'a "quoted" word']], empty: {}, 'a key': { list: ['x'] } },
  { at: '2026-01-02T03:04:05.678Z', all: ['1970-01-01T00:00:00.000Z'], text: '2026-01-02T03:04:05.678Z' },
  { price: { cents: 1250 }, ids: ['id-7'] },
  { list: [1, [2, []]], when: 'string', none: [], words: 'a "quoted" word', isArray: true },
];

for (const [file, about] of Object.entries({
  'bare.html': 'of no kind',
  'prototype-js.html': 'with Prototype.js 1.6',
  'enumerable.html': 'that extends Object and Array for everyone',
  'patched-json.html': 'with a JSON of its own',
  'traced-fetch.html': 'whose fetch is traced',
  'text-fetch.html': 'whose fetch does not stream',
  'own-promise.html': 'with promises of its own',
  'scoped-registry.html': 'with scoped registries of elements',
})) {
  journey(`in a page ${about} values cross by their own shape, and everything works`, bare, async ({ page, hand }) => {
    const { url } = await scripted.get();
    const { asked } = await model.get();
    page.setDefaultTimeout(8000);
    // What listens for the element's events in other journeys is a victim of such a page itself.
    hand.expects(/serializedArgs is not an array/);
    await page.goto(`${url}/hosts/${file}${file === 'bare.html' ? '?placement=inline' : ''}`);
    await hand.composer.waitFor();
    await registerGivers(page);
    const before = asked.length;
    assert.equal(await says(page, 'values'), 'completed');
    const results = asked.at(-1).messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content));
    assert.deepEqual(results, GIVEN);
    assert.equal(asked.length, before + 2);
    assert.equal(asked.at(-2).tools.find((tool) => tool.function.name === 'give_back').function.parameters.required.length, 4);
    hand.asked.forEach(isValid);
    await page.reload();
    await hand.thread.getByRole('paragraph').filter({ hasText: 'done' }).waitFor();
    assert.equal(await says(page, 'and now?'), 'completed');
    await hand.thread.getByText('You said: "and now?"').waitFor();
  });
}

journey('in a page that closes every shadow root it answers, and what it answers is shown', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/closed-roots.html`);
  await page.waitForFunction(() => customElements.get('page-hand'));
  await element(page, (element) => element.send('hello'));
  assert.equal(await hand.ended(0), 'completed');
  const shown = await element(page, (element) => [element.shadowRoot, window.roots.get(element).textContent]);
  assert.equal(shown[0], null);
  assert.match(shown[1], /You said: "hello"/);
});

// ---------------------------------------------------------------- paper and phones

const visibleIn = (page, ...names) => element(page, (element, names) => names.filter((name) =>
  [...element.shadowRoot.querySelectorAll(`[part~="${name}"]`)].some((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.getBoundingClientRect().width > 0)), names);

journey('launcher, docked and floating panel are not printed', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  for (const placement of ['docked', 'floating']) {
    await page.goto(`${url}/hosts/printed.html?placement=${placement}&name=${placement}`);
    await hand.open('Assistant');
    await element(page, (element) => element.close());
    assert.deepEqual(await visibleIn(page, 'launcher', 'frame'), ['launcher']);
    await page.emulateMedia({ media: 'print' });
    assert.deepEqual(await visibleIn(page, 'launcher', 'frame'), [], `${placement}, closed`);
    await element(page, (element) => element.open());
    await hand.painted();
    assert.deepEqual(await visibleIn(page, 'launcher', 'frame'), [], `${placement}, open`);
    await page.emulateMedia({ media: 'screen' });
    assert.deepEqual(await visibleIn(page, 'launcher', 'frame'), ['frame'], 'on the screen it is there as before');
  }
});

journey('an inline panel is printed whole: every message, nothing cut off by what scrolls on the screen', bare, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/printed.html?placement=inline`);
  await hand.composer.waitFor();
  for (const words of ['long one', 'long two', 'long three']) assert.equal(await hand.ask(words), 'completed');
  await page.emulateMedia({ media: 'print' });
  await hand.painted();
  const faults = await element(page, (element) => {
    const found = [];
    const whole = element.getBoundingClientRect();
    const messages = [...element.shadowRoot.querySelectorAll('[part~="user-message"], [part~="assistant-message"]')];
    if (messages.length !== 6) found.push(`${messages.length} messages`);
    for (const message of messages) {
      const words = document.createRange();
      words.selectNodeContents(message);
      const { top, bottom, height } = words.getBoundingClientRect();
      const name = message.textContent.slice(0, 12);
      if (!message.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || height < 10) found.push(`"${name}" is not there: ${height} px`);
      if (top < whole.top - 1 || bottom > whole.bottom + 1) found.push(`"${name}" from ${top} to ${bottom} is outside of the element, ${whole.top} to ${whole.bottom}`);
      for (let around = message.parentElement; around; around = around.parentElement) {
        const { overflowY } = getComputedStyle(around);
        if (overflowY !== 'visible' && around.scrollHeight > around.clientHeight + 1) found.push(`.${around.className}: ${overflowY}, ${around.scrollHeight} px in ${around.clientHeight}`);
      }
    }
    return [...new Set(found)];
  });
  assert.equal(faults.join('\n'), '');
  const pages = (await page.pdf({ preferCSSPageSize: true })).toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g).length;
  assert.ok(pages > 1, `${pages} page of paper`);
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

// Fields that a phone zooms in on, and buttons that a thumb does not meet.
const tooSmall = (page) => element(page, (element) => {
  const shown = (selector) => [...element.shadowRoot.querySelectorAll(selector)].filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return one.checkVisibility({ visibilityProperty: true }) && width > 1 && height > 1 && !one.closest('.sr-only');
  });
  const name = (one) => `${one.localName} "${(one.getAttribute('aria-label') ?? one.textContent).trim().slice(0, 20)}"`;
  return [
    ...shown('input, textarea, select').filter((one) => parseFloat(getComputedStyle(one).fontSize) < 16).map((one) => `${name(one)}: ${getComputedStyle(one).fontSize}`),
    ...shown('button').filter((one) => one.getBoundingClientRect().height < 43.9).map((one) => `${name(one)}: ${one.getBoundingClientRect().height} px high`),
  ];
});

journey('on a phone no field is under 16 pixels, and no button under 44', { ...bare, context: phone }, async ({ page, hand }) => {
  const { url } = await scripted.get();
  const faults = new Set();
  const look = async () => (await tooSmall(page)).forEach((fault) => faults.add(fault));
  for (const placement of ['docked', 'floating']) {
    await page.goto(`${url}/hosts/phone.html?placement=${placement}&name=${placement}`);
    await page.getByRole('button', { name: 'Assistant', exact: true }).waitFor();
    await look();
    await page.getByRole('button', { name: 'Assistant', exact: true }).tap();
    await hand.composer.waitFor();
    await look();
    const box = await part(page, 'frame').boundingBox();
    if (placement === 'docked') assert.deepEqual(box, { x: 0, y: 0, width: 390, height: 844 });
  }
  await registerClear(page);
  await page.locator('page-hand input[type="file"]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') }).catch(() => {});
  await look();
  assert.equal(await hand.ask('markdown'), 'completed');
  await look();
  await hand.say('clear');
  await hand.approval.waitFor();
  await look();
  assert.equal([...faults].join('\n'), '');
});

journey('where the keyboard of a phone leaves less of the page in sight, the composer stays in it', { ...bare, context: phone }, async ({ page, hand }) => {
  const { url } = await scripted.get();
  await page.goto(`${url}/hosts/phone.html?placement=docked`);
  await page.getByRole('button', { name: 'Assistant', exact: true }).tap();
  await hand.composer.waitFor();
  const shrinks = (height, offsetTop) => page.evaluate(({ height, offsetTop }) => {
    for (const [name, value] of Object.entries({ height, offsetTop, pageTop: scrollY + offsetTop })) Object.defineProperty(visualViewport, name, { get: () => value, configurable: true });
    for (const kind of ['resize', 'scroll']) visualViewport.dispatchEvent(new Event(kind));
  }, { height, offsetTop });
  const seen = async () => {
    await hand.painted();
    const [composer, send, frame] = await Promise.all([hand.composer, hand.button('Send'), part(page, 'frame')].map((one) => one.boundingBox()));
    return { top: frame.y, composer: composer.y, end: Math.max(composer.y + composer.height, send.y + send.height) };
  };
  // As in iOS: the keyboard is over the page, and the part in sight may be moved.
  for (const [height, offsetTop] of [[444, 0], [444, 160], [844, 0]]) {
    await shrinks(height, offsetTop);
    const { top, composer, end } = await seen();
    const about = `${height} px from ${offsetTop} are in sight; the frame begins at ${top}, the composer at ${composer}, and ends at ${end}`;
    assert.ok(top >= offsetTop - 1 && composer >= offsetTop && end <= offsetTop + height + 1, about);
    assert.ok(end > offsetTop + height - 80, `nothing is left empty: ${about}`);
  }
});

// ---------------------------------------------------------------- pages that keep nothing

async function keepsNothing(page, frame, hand) {
  const composer = frame.getByRole('textbox', { name: 'Message to the agent' });
  await composer.waitFor();
  await composer.fill('where is order A-1042?');
  await composer.press('Enter');
  await frame.locator('page-hand [part~="assistant-message"]').filter({ hasText: 'A-1042' }).waitFor();
  await frame.locator('page-hand').getByRole('status').filter({ hasText: 'This conversation is not being saved' }).waitFor();
  assert.equal(await frame.locator('page-hand').getByText('open in another tab').count(), 0);
  assert.deepEqual(hand.complaints, []);
}

journey('in a sandboxed frame it works in memory, and says that nothing is kept', bare, async ({ page, hand }) => {
  const { url } = await shop.get();
  page.setDefaultTimeout(10_000);
  await page.goto(`${url}/hosts/sandboxed.html`);
  await keepsNothing(page, page.frameLocator('iframe'), hand);
});

journey('where the user blocks all cookies it works in memory, and says that nothing is kept', bare, async ({ hold }) => {
  const { url } = await shop.get();
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  await mkdir(join(folder, 'Default'));
  await writeFile(join(folder, 'Default', 'Preferences'), JSON.stringify({ profile: { default_content_setting_values: { cookies: 2 } } }));
  const context = await chromium.launchPersistentContext(folder, { executablePath: process.env.CHROMIUM, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  hold({ stop: async () => (await context.close(), await rm(folder, { recursive: true, force: true })) });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const hand = await new Hand(page).watch();
  await page.goto(`${url}/hosts/bare.html?placement=inline`);
  assert.equal(await page.evaluate(() => { try { return typeof localStorage; } catch (error) { return error.name; } }), 'SecurityError', 'this browser blocks');
  await keepsNothing(page, page, hand);
});

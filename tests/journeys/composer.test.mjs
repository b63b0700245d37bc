// What a person writes, pastes and scrolls, and what the panel makes of it: drafts, the clipboard's many forms, long texts,
// and looking back while an answer arrives.

import assert from 'node:assert/strict';
import { startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';
import { startModel } from './support/model.mjs';

async function withModel(page, hold, answer = () => ({ text: 'hello' })) {
  const model = hold(await startModel(answer));
  const gateway = await startGateway({ env: model.env });
  hold({ stop: gateway.kill });
  await page.goto(gateway.url);
  return gateway;
}

// ---- drafts ----

journey('what is written and not sent is there again after a reload, and gone once it is sent', {}, async ({ page, hand }) => {
  await hand.open();
  await hand.composer.fill('half a\nthought');
  await page.reload();
  await hand.composer.waitFor();
  await page.waitForFunction(() => document.querySelector('page-hand').shadowRoot.querySelector('textarea').value === 'half a\nthought');
  await hand.composer.press('End');
  await hand.composer.pressSequentially('!');
  await hand.composer.press('Enter');
  await hand.thread.getByText('thought!').waitFor();
  await page.reload();
  await hand.thread.getByText('thought!').waitFor();
  assert.equal(await hand.composer.inputValue(), '');
});

journey('what is written while the agent works outlives the agent\'s own navigation', { gateway: false }, async ({ page, hand, hold }) => {
  let go;
  const may = new Promise((resolve) => { go = resolve; });
  const gateway = await withModel(page, hold, async (body, number) => {
    if (number > 1) return { text: 'Here you are.' };
    await may;
    return { calls: [{ name: 'navigate', arguments: { url: '/elsewhere' } }] };
  });
  // A page without a router: the document is left.
  await page.route('**/elsewhere', (route) => route.fulfill({
    contentType: 'text/html',
    body: '<!doctype html><title>Elsewhere</title><script type="module" src="/www/page-hand.js"></script><page-hand placement="inline" name="x"></page-hand>',
  }));
  await page.route('**/start', (route) => route.fulfill({
    contentType: 'text/html',
    body: '<!doctype html><title>Start</title><script type="module" src="/www/page-hand.js"></script><page-hand placement="inline" name="x"></page-hand>',
  }));
  await page.goto(`${gateway.url}/start`);
  await hand.composer.waitFor();
  const since = await hand.say('go elsewhere');
  await hand.composer.fill('and then');
  go();
  await page.waitForURL('**/elsewhere');
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await hand.composer.inputValue(), 'and then');
});

journey('a draft stays with its thread when another one is begun', {}, async ({ page, hand }) => {
  await hand.open();
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await hand.composer.fill('about A-1042');
  await hand.button('New').click();
  await page.getByText('Earlier conversations:').waitFor();
  assert.equal(await hand.composer.inputValue(), '');
  await hand.composer.fill('about something else');
  await hand.button('where is order A-1042?').click();
  await hand.shows('order_status', 'result-available');
  assert.equal(await hand.composer.inputValue(), 'about A-1042');
});

// ---- the clipboard ----

const png = [...Buffer.from('iVBORw0KGgo=', 'base64')];

/** Pastes what a program put on the clipboard: texts by type, and files as `[name, type]`. What the composer holds then. */
const paste = (hand, texts, files = []) => hand.composer.evaluate(async (area, [texts, files, png]) => {
  area.value = '';
  area.focus();
  const data = new DataTransfer();
  for (const [type, text] of Object.entries(texts)) data.setData(type, text);
  for (const [name, type] of files) data.items.add(new File([new Uint8Array(png)], name, { type }));
  const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, composed: true, cancelable: true });
  // A made-up event pastes nothing by itself; the browser would put the plain text in.
  return area.dispatchEvent(event) ? data.getData('text/plain') : null;
}, [texts, files, png]);

const PASTES = [
  ['a file, as Finder copies it, with its name', { 'text/plain': 'parcel.png' }, [['parcel.png', 'image/png']], null, ['parcel.png']],
  ['several, as Finder copies them', { 'text/plain': 'one.png\rtwo.png' }, [['one.png', 'image/png'], ['two.png', 'image/png']], null, ['one.png', 'two.png']],
  ['a file, as a Linux file manager copies it, with its path', { 'text/plain': '/home/me/my notes.txt' }, [['my notes.txt', 'text/plain']], null, ['my notes.txt']],
  ['a file with its address', { 'text/plain': 'file:///home/me/my%20notes.txt', 'text/uri-list': 'file:///home/me/my%20notes.txt' }, [['my notes.txt', 'text/plain']], null, ['my notes.txt']],
  ['a screenshot', {}, [['image.png', 'image/png']], null, ['image.png']],
  ['a picture of a page', { 'text/html': '<img src="https://a.example/b.png">' }, [['image.png', 'image/png']], null, ['image.png']],
  ['a picture dragged out of a page, with its address', { 'text/plain': 'https://a.example/b.png', 'text/uri-list': 'https://a.example/b.png' }, [['image.png', 'image/png']], null, ['image.png']],
  ['cells of a spreadsheet, with a picture of them', { 'text/plain': 'a\tb\n1\t2', 'text/html': '<table><tr><td>a</td><td>b</td></tr></table>' }, [['image.png', 'image/png']], 'a\tb\n1\t2', []],
  ['a paragraph of a text processor, with a picture of it', { 'text/plain': 'A paragraph.', 'text/html': '<p>A paragraph.</p>', 'text/rtf': '{\\rtf1 A paragraph.}' }, [['image.png', 'image/png']], 'A paragraph.', []],
  ['words that name a file among others', { 'text/plain': 'see parcel.png' }, [['parcel.png', 'image/png']], 'see parcel.png', []],
  ['words alone', { 'text/plain': 'parcel.png' }, [], 'parcel.png', []],
];

journey('of what is on the clipboard the useful form is taken', { gateway: false }, async ({ page, hand, hold }) => {
  await withModel(page, hold);
  await hand.open();
  const waiting = page.getByRole('list', { name: 'Files that go with the message' });
  for (const [what, texts, files, pasted, attached] of PASTES) {
    assert.equal(await paste(hand, texts, files), pasted, what);
    for (const name of attached) await waiting.getByText(name, { exact: false }).waitFor();
    const names = (await waiting.locator('li > span').allInnerTexts()).map((text) => text.split(',')[0]);
    assert.deepEqual(names, attached, what);
    for (const name of attached) await hand.button(`Remove ${name}, 8 bytes`).click();
    assert.equal(await waiting.count(), 0);
  }
});

// ---- long texts ----

journey('a key costs no second layout, however long the draft is', {}, async ({ page, hand, context }) => {
  await hand.open();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable');
  const layouts = async () => (await devtools.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'LayoutCount').value;
  for (const length of [10, 1500, 300_000]) {
    await hand.composer.evaluate((area, length) => {
      area.value = 'lorem ipsum '.repeat(length / 12 + 1).slice(0, length);
      area.dispatchEvent(new Event('input', { bubbles: true }));
      area.focus();
      area.setSelectionRange(length, length);
    }, length);
    await hand.painted();
    const before = await layouts();
    await page.evaluate(async () => {
      for (let at = 0; at < 10; at += 1) {
        document.execCommand('insertText', false, 'x');
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      }
    });
    const each = (await layouts() - before) / 10;
    assert.ok(each <= 1.5, `${each} layouts a key at ${length} characters`);
  }
});

// ---- looking back ----

const behind = (hand) => hand.thread.evaluate((scroller) => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight);

for (const step of [30, 2]) {
  journey(`scrolling back by ${step} pixels at a time while an answer arrives is let be, until the end is reached again`, { pace: 0.3 }, async ({ page, hand }) => {
    await hand.open();
    await hand.ask('compare A-1042 and A-1043');
    await hand.ask('compare A-1042 and A-1043');
    const since = await hand.say('write a long answer');
    await hand.thread.hover();
    await page.waitForFunction(() => {
      const scroller = document.querySelector('page-hand').shadowRoot.querySelector('.scroller');
      return scroller.scrollHeight > scroller.clientHeight + 500;
    });
    let top = Infinity;
    for (let at = 0; at < 12; at += 1) {
      await page.mouse.wheel(0, -step);
      await hand.painted();
      const now = await hand.thread.evaluate((scroller) => scroller.scrollTop);
      assert.ok(now < top, `step ${at}: ${now} after ${top}`);
      top = now;
    }
    await hand.button('To the latest').waitFor();
    assert.equal(await hand.ended(since), 'completed');
    assert.equal(await hand.thread.evaluate((scroller) => scroller.scrollTop), top, 'what arrives behind it moves nothing');
    await page.mouse.wheel(0, 100_000);
    await page.waitForFunction(() => !document.querySelector('page-hand').shadowRoot.querySelector('.latest'));
    await hand.ask('write a long answer');
    assert.ok(await behind(hand) < 2, 'the end is followed again');
  });
}

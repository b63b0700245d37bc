// The panel under the user's hands: what is said stays in sight, nothing slides under the pointer, the focus is never lost,
// files may be dropped anywhere, and there is a way back to what was said before.

import assert from 'node:assert/strict';
import { startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';
import { startModel } from './support/model.mjs';

const LONG = Array.from({ length: 40 }, (_, at) => `Paragraph ${at}: the quick brown fox jumps over the lazy dog, again and again.`).join('\n\n');

async function withModel(page, hold, answer) {
  const model = hold(await startModel(answer));
  const gateway = await startGateway({ env: model.env });
  hold({ stop: gateway.kill });
  await page.goto(gateway.url);
  return model;
}

/** How far the end of the thread is out of sight, in pixels, once nothing moves any more. */
async function behind(hand) {
  await hand.painted();
  return hand.thread.evaluate((scroller) => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight);
}

const focused = (page) => page.evaluate(() => document.querySelector('page-hand').shadowRoot.activeElement?.id ?? '');

journey('what is said and answered is in sight, unless the user scrolled away; and there is a way to the end', { gateway: false }, async ({ page, hand, hold }) => {
  await withModel(page, hold, () => ({ text: LONG }));
  await hand.open();
  for (const words of ['one', 'two\n'.repeat(6), 'three']) {
    assert.equal(await hand.ask(words), 'completed');
    assert.ok(await behind(hand) < 2, `after "${words.trim()}"`);
  }
  assert.equal(await hand.button('To the latest').count(), 0);
  await hand.thread.hover();
  await page.mouse.wheel(0, -1500);
  await hand.button('To the latest').waitFor();
  const before = await behind(hand);
  assert.ok(before > 500, `${before}`);
  // A banner, or a taller composer, is no reason to move.
  await hand.composer.fill('a\nb\nc\nd');
  assert.ok(await behind(hand) > 500);
  await hand.button('To the latest').click();
  assert.ok(await behind(hand) < 2);
  assert.equal(await hand.button('To the latest').count(), 0);
  assert.ok(await page.evaluate(() => document.querySelector('page-hand').shadowRoot.activeElement?.matches('.scroller')));
  await page.mouse.wheel(0, -3000);
  await hand.button('To the latest').waitFor();
  assert.equal(await hand.ask('four'), 'completed');
  assert.ok(await behind(hand) < 2, 'who says something sees it');
});

journey('a second click on Stop meets nothing else, and the focus is where the user writes', { pace: 1 }, async ({ page, hand }) => {
  let choosers = 0;
  page.on('filechooser', () => { choosers += 1; });
  await hand.open();
  for (const act of ['dblclick', 'keyboard']) {
    const since = await hand.say('write a long answer');
    await hand.button('Stop').waitFor();
    if (act === 'dblclick') await hand.button('Stop').dblclick();
    else {
      await hand.button('Stop').focus();
      await page.keyboard.press('Enter');
    }
    assert.equal(await hand.ended(since), 'stopped');
    assert.equal(await focused(page), 'pagehand-message');
  }
  assert.equal(choosers, 0);
  const since = hand.events.length;
  await hand.button('Try again').click();
  await hand.heard('run-start', () => true, since);
  assert.equal(await focused(page), 'pagehand-message');
  // Escape stops from wherever the user is in the panel.
  await hand.thread.focus();
  await page.keyboard.press('Escape');
  assert.equal(await hand.ended(since), 'stopped');
});

journey('a file may be dropped anywhere on the panel; of several that are not taken each is named', { gateway: false }, async ({ page, hand, hold }) => {
  await withModel(page, hold, () => ({ text: 'hello' }));
  await hand.open();
  const drop = (files) => hand.thread.evaluate((thread, files) => {
    const data = new DataTransfer();
    for (const [name, type] of files) data.items.add(new File(['x'], name, { type }));
    const send = (kind) => !thread.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, composed: true, cancelable: true }));
    const look = () => new Promise((done) => setTimeout(() => done(thread.closest('.panel').className)));
    send('dragenter');
    const shown = look();
    return shown.then((shown) => Promise.all([shown, send('dragover'), send('drop'), look()]));
  }, files);
  assert.deepEqual(await drop([['a.tsx', ''], ['v.ts', 'video/mp2t'], ['Dockerfile', '']]), ['panel dropping', true, true, 'panel']);
  const waiting = page.getByRole('list', { name: 'Files that go with the message' });
  for (const name of ['a.tsx', 'v.ts', 'Dockerfile']) await waiting.getByText(name).waitFor();
  await drop([['a.docx', 'application/x-one'], ['b.bin', '']]);
  const notice = hand.banner('a.docx is application/x-one, which the model does not take. b.bin is application/octet-stream');
  await notice.waitFor();
  await drop([['c.md', '']]);
  await waiting.getByText('c.md').waitFor();
  assert.equal(await notice.count(), 0, 'it is about what was dropped before');
});

journey('a new conversation offers the way back to earlier ones', {}, async ({ page, hand }) => {
  await hand.open();
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await hand.button('New').click();
  assert.equal(await focused(page), 'pagehand-message');
  await page.getByText('Earlier conversations:').waitFor();
  // What a screen reader heard of the other one is gone.
  assert.equal(await page.locator('page-hand').getByRole('log').innerText(), '');
  await hand.button('where is order A-1042?').click();
  await hand.shows('order_status', 'result-available');
  assert.equal(await focused(page), 'pagehand-message');
  assert.equal(await page.getByText('Earlier conversations:').count(), 0);
});

journey('what has come of an answer stays when another tab takes over, and when that one is loaded again', { pace: 1 }, async ({ page, hand, gateway, context }) => {
  await hand.open();
  await hand.say('write a long answer');
  const first = 'A long answer, to watch one arrive';
  await hand.thread.getByText('nothing here was looked up', { exact: false }).waitFor();
  const other = await context.newPage();
  await other.goto(gateway.url);
  // A tab of its own knows no thread of the first; the page opens it.
  const id = await page.evaluate(() => document.querySelector('page-hand').threadId);
  await other.getByRole('button', { name: 'Pagehand', exact: true }).click();
  await other.evaluate((id) => document.querySelector('page-hand').openThread(id), id);
  await other.getByText(first).waitFor();
  await other.getByRole('textbox', { name: 'Message to the agent' }).fill('hello');
  await other.getByRole('textbox', { name: 'Message to the agent' }).press('Enter');
  await other.locator('page-hand .user').filter({ hasText: 'hello' }).waitFor();
  assert.equal(await other.getByText(first).count(), 1, 'in the tab that took over');
  await other.reload();
  await other.getByText(first).waitFor();
  await other.close();
});

journey('a page hears why there is no answer of the form it asked for', { gateway: false }, async ({ page, hand, hold }) => {
  hand.expects(/401/);
  const model = hold(await startModel(() => ({ text: 'hello' })));
  const gateway = await startGateway({ env: { ...model.env, PAGEHAND_MODEL_URL: `${model.url}/refuses` } });
  hold({ stop: gateway.kill });
  await page.goto(gateway.url);
  await hand.open();
  const ask = () => page.evaluate(() => document.querySelector('page-hand').ask({ text: 'hello', output: { schema: { type: 'object' } } })
    .catch(({ code, reason, cause }) => ({ code, reason, cause: cause?.code })));
  assert.deepEqual(await ask(), { code: 'no_output', reason: 'error', cause: 'auth' });
});

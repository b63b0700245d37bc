// The WebAssembly traps, as it does after a panic or when its memory is spoilt: a fresh copy takes its place, and nothing
// is lost.

import assert from 'node:assert/strict';
import { startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';
import { last, startModel } from './support/model.mjs';
import { isValid } from './support/thread.mjs';

// What the browser says of a trap, and what else may go wrong in a module whose memory is spoilt.
const TRAP = /RuntimeError|memory access out of bounds|unreachable|table index is out of bounds|indirect call|RangeError/;

// Spoils the memory of a copy: whatever is asked of it next, it traps.
const spoil = (page, copy = 0) => page.evaluate(async (copy) => {
  const { default: init } = await import(`/www/pkg/pagehand.js${copy ? `?copy=${copy}` : ''}`);
  new Uint8Array((await init()).memory.buffer).fill(255);
}, copy);

const poke = (page) => page.evaluate(() => {
  const area = document.querySelector('page-hand').shadowRoot.querySelector('.composer textarea');
  area?.dispatchEvent(new Event('input'));
});

const restarted = (hand, since) => hand.heard('ready', () => true, hand.events.findIndex((event, at) => at >= since && event.type === 'restart'));

async function trap(page, hand, copy) {
  const since = hand.events.length;
  await spoil(page, copy);
  await poke(page);
  await hand.heard('restart', () => true, since);
  await restarted(hand, since);
  return since;
}

journey('with half a message written: the panel is there again with it, caret and focus, the thread and the page\'s tools', {}, async ({ page, hand }) => {
  hand.expects(TRAP);
  await hand.open();
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await page.evaluate(() => document.querySelector('page-hand').registerTool({
    name: 'cart_count', owner: 'shop', risk: 'read',
    description: 'Counts the articles in the shopping cart of this page.', run: () => 3,
  }));
  await hand.composer.fill('refund order A-');
  await hand.composer.press('ArrowLeft');
  const since = hand.events.length;
  await spoil(page);
  await hand.composer.press('ArrowLeft');
  assert.match((await hand.heard('restart', () => true, since)).detail.message, /./);
  await restarted(hand, since);
  await hand.banner('The panel had to be restarted.').waitFor();
  assert.equal(await hand.composer.inputValue(), 'refund order A-');
  assert.ok(await page.evaluate(() => document.querySelector('page-hand').shadowRoot.activeElement?.matches('textarea')));
  const caret = await hand.composer.evaluate((area) => [area.selectionStart, area.selectionEnd]);
  assert.equal(caret[0], caret[1]);
  assert.ok(caret[0] >= 'refund order A-'.length - 2 && caret[0] < 'refund order A-'.length, `${caret}`);
  await hand.shows('order_status', 'result-available');
  assert.ok(await page.evaluate(() => document.querySelector('page-hand').tools.some((tool) => tool.name === 'cart_count')));

  await hand.composer.press('End');
  await hand.composer.pressSequentially('1042 because it arrived damaged');
  const asked = hand.events.length;
  await hand.composer.press('Enter');
  await hand.approval.waitFor();
  await hand.button('Approve').click();
  assert.equal(await hand.ended(asked), 'completed');
  hand.asked.forEach(isValid);
});

journey('while words arrive: the run goes on, and nothing is there twice', { pace: 0.3 }, async ({ page, hand }) => {
  hand.expects(TRAP);
  await hand.open();
  const since = await hand.say('write a long answer');
  await hand.thread.getByText('nothing here was looked up', { exact: false }).waitFor();
  // The next words that arrive are what traps.
  await spoil(page);
  await hand.heard('restart', () => true, since);
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await hand.thread.getByRole('heading', { name: 'A long answer, to watch one arrive' }).count(), 1);
  assert.equal(hand.asked.length, 2);
  hand.asked.forEach(isValid);
});

journey('while a refund is at work: what became of it is found out, and it is made once', {}, async ({ page, hand }) => {
  hand.expects(TRAP);
  let calls = 0;
  await page.route('**/tools/order_refund', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    calls += 1;
    await route.fetch();
  });
  await hand.open();
  const since = await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  await hand.button('Approve').click();
  await page.waitForFunction(async () => (await (await fetch('/api/orders/A-1042')).json()).status === 'refunded');
  await trap(page, hand);
  assert.equal(await hand.ended(since), 'completed');
  await hand.shows('order_refund', 'result-available');
  assert.equal(calls, 1);
  const order = await hand.get('/api/orders/A-1042');
  assert.equal(order.history.filter(({ text }) => text.startsWith('Refunded')).length, 1);
  hand.asked.forEach(isValid);
});

journey('while a tool of the page is at work: the dead copy does nothing with its answer', { gateway: false }, async ({ page, hand, hold }) => {
  hand.expects(TRAP);
  const model = hold(await startModel((body) => (last(body).role === 'user' ? { calls: [{ name: 'slow_tool' }] } : { text: 'done' })));
  const gateway = await startGateway({ env: model.env });
  hold({ stop: gateway.kill });
  await page.goto(gateway.url);
  await hand.open();
  await page.evaluate(() => {
    window.runs = 0;
    document.querySelector('page-hand').registerTool({
      name: 'slow_tool', owner: 'tests', risk: 'read', replay: 'effect',
      description: 'Takes as long as the test that registered it says it takes.',
      run: () => new Promise((done) => { window.runs += 1; window.answer = done; }),
    });
  });
  const since = await hand.say('go');
  await hand.shows('slow_tool', 'running');
  await trap(page, hand);
  await page.evaluate(() => window.answer('late'));
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await page.evaluate(() => window.runs), 1);
  assert.match(last(model.asked.at(-1)).content, /whether it took effect is unknown/);
  hand.asked.forEach(isValid);
});

journey('a call of the page that traps: it is told, and the panel is there again', {}, async ({ page, hand }) => {
  hand.expects(TRAP);
  await hand.open();
  const since = hand.events.length;
  await spoil(page);
  const told = await page.evaluate(() => document.querySelector('page-hand').send('hello').then(() => 'sent', (error) => error.stack));
  // Something else of the panel may trap first; then the message goes to the fresh copy. Else it runs into the spoilt
  // memory, or into the module's own check of whether the panel is in use.
  if (told === 'sent') await hand.ended(since);
  else assert.match(told, /RuntimeError|wbindgen_throw/);
  await restarted(hand, since);
  // What is registered with a dead copy is registered with the next one.
  await spoil(page, 1);
  assert.equal(await page.evaluate(() => document.querySelector('page-hand').registerTool({
    name: 'cart_count', owner: 'shop', risk: 'read',
    description: 'Counts the articles in the shopping cart of this page.', run: () => 3,
  }).then(() => 'registered', (error) => error.name)), 'registered');
  assert.ok(await page.evaluate(() => document.querySelector('page-hand').tools.some((tool) => tool.name === 'cart_count')));
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
});

journey('both panels of a page are there again, for they share what died', {}, async ({ page, hand }) => {
  hand.expects(TRAP);
  await hand.open();
  await page.evaluate(async () => {
    const other = Object.assign(document.createElement('page-hand'), { id: 'other', placement: 'inline' });
    other.setAttribute('name', 'other');
    document.body.append(other);
    await other.newThread();
  });
  const since = hand.events.length;
  await spoil(page);
  await poke(page);
  await restarted(hand, since);
  await hand.heard('ready', (_, { target }) => target === 'other', since);
  for (const at of [0, 1]) await page.locator('page-hand').nth(at).getByRole('textbox', { name: 'Message to the agent' }).waitFor();
});

journey('again and again: it stops, says so, and Try again works; a panel that is taken out leaves no listener', {}, async ({ page, hand }) => {
  hand.expects(TRAP);
  await page.addInitScript(() => {
    window.listening = 0;
    const { addEventListener, removeEventListener } = window;
    const held = new Set();
    const kinds = ['error', 'unhandledrejection'];
    window.addEventListener = function (kind, heard, ...more) {
      if (kinds.includes(kind)) held.add(kind);
      window.listening = held.size;
      return addEventListener.call(window, kind, heard, ...more);
    };
    window.removeEventListener = function (kind, heard, ...more) {
      held.delete(kind);
      window.listening = held.size;
      return removeEventListener.call(window, kind, heard, ...more);
    };
  });
  await page.reload();
  await hand.open();
  assert.equal(await page.evaluate(() => window.listening), 2);
  await trap(page, hand, 0);
  await trap(page, hand, 1);
  await hand.composer.fill('still here');
  const since = hand.events.length;
  await spoil(page, 2);
  await poke(page);
  await hand.heard('restart', () => true, since);
  const failed = page.locator('page-hand').getByRole('alert');
  await failed.getByText('The panel failed several times and was stopped.').waitFor();
  assert.equal(await page.evaluate(() => window.listening), 0);
  await failed.getByRole('button', { name: 'Try again' }).click();
  await hand.composer.waitFor();
  assert.equal(await hand.composer.inputValue(), 'still here');
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await page.evaluate(() => document.querySelector('page-hand').remove());
  await page.waitForFunction(() => window.listening === 0);
});

journey('what the page itself does wrong restarts nothing', {}, async ({ page, hand }) => {
  hand.expects(/RangeError|RuntimeError|unreachable|Invalid array length/);
  await hand.open();
  await page.evaluate(async () => {
    const thrown = [new RangeError('mine'), new WebAssembly.RuntimeError('mine')];
    for (const error of thrown) {
      setTimeout(() => { throw error; });
      Promise.reject(error);
    }
    // In the middle of a call of ours.
    document.querySelector('page-hand').addEventListener('pagehand-run-start', () => new Array(-1));
  });
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  assert.equal(hand.events.filter(({ type }) => type === 'restart').length, 0);
});

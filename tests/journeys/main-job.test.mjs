// The main job: one sentence, two scopes, one loop.

import assert from 'node:assert/strict';
import { isValid, resultOf } from './support/thread.mjs';
import { journey } from './support/journey.mjs';

const SENTENCE = 'where is order A-1042? open it and copy the tracking number';
const TRACKING = 'JD014600003RE1042';

journey('by keyboard alone, at a human pace: the order is found, its screen opened, its tracking number copied', { pace: 1 }, async ({ page, hand }) => {
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (let tabs = 0; (await focused(page)) !== 'Pagehand'; tabs++) {
    assert.ok(tabs < 100, 'Tab reaches the launcher');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await hand.composer.waitFor();
  await page.waitForFunction(() => document.querySelector('page-hand').shadowRoot.activeElement?.localName === 'textarea');
  await page.keyboard.type(SENTENCE);
  const since = hand.events.length;
  await page.keyboard.press('Enter');
  assert.equal(await hand.ended(since), 'completed');

  assert.equal(new URL(page.url()).pathname, '/orders/A-1042');
  assert.match(await page.title(), /A-1042/);
  await page.getByRole('heading', { name: /A-1042/ }).first().waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), TRACKING);

  for (const [tool, where] of [['order_status', 'on the server'], ['navigate', 'in this page'], ['clipboard_write', 'in this page']]) {
    await hand.shows(tool, 'result-available');
    assert.match(await hand.card(tool).innerText(), new RegExp(`${where} · ${tool}`));
  }
  const words = await hand.words();
  assert.match(words, /Order A-1042 of .+ is (shipped|delivered)/);
  assert.ok(words.includes(TRACKING), 'the answer names the number');
  assert.match(words, /opened A-1042/);
  assert.equal(await page.evaluate(() => document.querySelector('page-hand').shadowRoot.activeElement?.localName), 'textarea');
  hand.asked.forEach(isValid);
});

journey('calls of both scopes in one step run side by side, and their results go back in call order', { pace: 0 }, async ({ page, hand }) => {
  // The server's tool is made slow, so that the page's, which comes second, is done first.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/tools/order_status', async (route) => {
    await held;
    await route.continue();
  });
  await hand.open();
  const since = await hand.say(SENTENCE);
  await hand.heard('tool-call', (call) => call.name === 'navigate' && call.state === 'result-available', since);
  const [status, navigate] = hand.calls(since);
  assert.deepEqual([status.name, navigate.name], ['order_status', 'navigate'], 'both are calls of the first step');
  assert.deepEqual(status.states.at(-1), 'running', 'the first is still at work when the second is done');
  release();
  assert.equal(await hand.ended(since), 'completed');

  const ended = hand.calls(since);
  const lastStart = Math.max(...ended.slice(0, 2).map((call) => call.at.running));
  const firstEnd = Math.min(...ended.slice(0, 2).map((call) => call.at['result-available']));
  assert.ok(lastStart <= firstEnd, 'both had started before either was done');
  assert.deepEqual(ended.slice(0, 2).map((call) => call.scope), ['server', 'browser']);

  const [, second] = hand.asked;
  isValid(second);
  const answers = second.messages.filter((message) => message.role === 'tool').map((message) => message.toolCallId);
  const calls = second.messages.findLast((message) => message.role === 'assistant').toolCalls;
  assert.deepEqual(calls.map((call) => call.function.name), ['order_status', 'navigate']);
  assert.deepEqual(answers, calls.map((call) => call.id));
  assert.match(JSON.stringify(resultOf(second, 'order_status')), new RegExp(TRACKING));
});

async function focused(page) {
  return page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element?.textContent?.trim() ?? '';
  });
}

// The page is reloaded: nothing is lost, nothing is run twice.

import assert from 'node:assert/strict';
import { journey } from './support/journey.mjs';
import { isValid, resultOf } from './support/thread.mjs';

journey('reloaded during a tool that changes nothing: it is called again under its own key, and the run goes on', {}, async ({ page, hand }) => {
  const keys = [];
  const slow = page.waitForRequest('**/tools/order_status');
  await page.route('**/tools/order_status', (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
  });
  await hand.open();
  const since = hand.events.length;
  await hand.say('where is order A-1042?');
  await slow;
  await page.reload();
  assert.equal(await hand.ended(since), 'completed');
  await hand.thread.getByText('where is order A-1042?').waitFor();
  await hand.shows('order_status', 'result-available');
  assert.equal(await hand.card('order_status').count(), 1);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  assert.equal(await hand.banner('The page was left or reloaded').count(), 0);
  assert.equal(await hand.ask('where is order A-1043?'), 'completed');
  hand.asked.forEach(isValid);
});

journey('reloaded during a refund: it is not made again, and what became of it is found out', {}, async ({ page, hand }) => {
  let calls = 0;
  // The gateway gets it, and the page goes away before it hears of it.
  await page.route('**/tools/order_refund', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    calls += 1;
    await route.fetch().catch(() => {});
  });
  await hand.open();
  await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  const since = hand.events.length;
  await hand.button('Approve').click();
  await page.waitForFunction(async () => (await (await fetch('/api/orders/A-1042')).json()).status === 'refunded');
  await page.reload();
  assert.equal(await hand.ended(since), 'completed');
  await hand.shows('order_refund', 'result-available');
  assert.equal(calls, 1);
  isValid(hand.asked.at(-1));
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'refunded');
});

journey('reloaded during a refund that never reached the gateway: the model is told that its outcome is unknown', {}, async ({ page, hand }) => {
  await page.route('**/tools/order_refund', () => {});
  const sent = page.waitForRequest('**/tools/order_refund');
  await hand.open();
  await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  const since = hand.events.length;
  await hand.button('Approve').click();
  await sent;
  await page.reload();
  assert.equal(await hand.ended(since), 'completed');
  await hand.shows('order_refund', 'failed');
  isValid(hand.asked.at(-1));
  assert.match(JSON.stringify(hand.asked.at(-1).messages), /whether it took effect is unknown/);
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'shipped');
});

journey('reloaded while words arrive: they stay, and the model is asked again', { pace: 0.3 }, async ({ page, hand }) => {
  await hand.open();
  const since = hand.events.length;
  await hand.say('write a long answer');
  const title = hand.thread.getByRole('heading', { name: 'A long answer, to watch one arrive' });
  await title.waitFor();
  const said = (await hand.thread.locator('.md').innerText()).slice(0, 60);
  await page.reload();
  // What was read of it stays in sight, and is not sent.
  const broken = hand.thread.locator('.superseded');
  await broken.getByText('broke off here and was asked for again').waitFor();
  assert.ok((await broken.innerText()).includes(said), `${said} is still there`);
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await title.count(), 2);
  hand.asked.forEach(isValid);
  assert.doesNotMatch(JSON.stringify(hand.asked.at(-1).messages), /A long answer/);
  await page.reload();
  await broken.getByText('broke off here').waitFor();
  assert.equal(await title.count(), 2);
});

journey('reloaded during a question: it is asked again, and the refund is made once', {}, async ({ page, hand }) => {
  await hand.open();
  await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  const since = hand.events.length;
  await page.reload();
  await hand.approval.waitFor();
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'shipped', 'nothing is done before');
  await hand.button('Approve').click();
  assert.equal(await hand.ended(since), 'completed');
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'refunded');
});

journey('reloaded while the gateway is away: the run waits, and Try again takes it up', {}, async ({ page, hand, gateway }) => {
  await page.route('**/tools/order_status', () => {});
  const slow = page.waitForRequest('**/tools/order_status');
  await hand.open();
  await hand.say('where is order A-1042?');
  await slow;
  await page.route('**/tools', (route) => route.abort());
  hand.expects(/ERR_FAILED/);
  await page.reload();
  const banner = hand.banner('The page was left or reloaded while the agent was at work.');
  await banner.waitFor();
  // Not before: what is held back goes on once nothing is.
  await page.unroute('**/tools/order_status');
  await page.unroute('**/tools');
  const since = hand.events.length;
  await banner.getByRole('button', { name: 'Try again' }).click();
  assert.equal(await hand.ended(since), 'completed');
  await hand.shows('order_status', 'result-available');
});

journey('reloaded after an answer: the thread is as it was, the panel open, and the model remembers', {}, async ({ page, hand }) => {
  await hand.open();
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  const id = await page.evaluate(() => document.querySelector('page-hand').threadId);
  const before = shape(await hand.words());
  await page.reload();
  await hand.composer.waitFor();
  await hand.shows('order_status', 'result-available');
  assert.equal(shape(await hand.words()), before);
  assert.equal(await page.evaluate(() => document.querySelector('page-hand').threadId), id);
  assert.equal(await hand.ask('open it'), 'completed');
  assert.equal(new URL(page.url()).pathname, '/orders/A-1042');
  isValid(hand.asked.at(-1));
  assert.match(JSON.stringify(resultOf(hand.asked.at(-1), 'order_status')), /JD014600003RE1042/);
});

journey('a new thread is empty, stays empty when reloaded, and the model knows nothing of the old one', {}, async ({ page, hand }) => {
  await hand.open();
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  const id = await page.evaluate(() => document.querySelector('page-hand').threadId);
  await hand.button('New').click();
  await hand.thread.getByText('Ask a question, or say what should be done in this page.').waitFor();
  assert.equal(await hand.card('order_status').count(), 0);
  assert.notEqual(await page.evaluate(() => document.querySelector('page-hand').threadId), id);
  await page.reload();
  await hand.thread.getByText('Ask a question, or say what should be done in this page.').waitFor();
  assert.equal(await hand.ask('what is our returns policy?'), 'completed');
  assert.doesNotMatch(JSON.stringify(hand.asked.at(-1).messages), /A-1042/);
});

// How long a call took is not kept, and whether a details element is open is not either.
function shape(words) {
  return words.replaceAll(/\d+(\.\d)? m?s\n?/g, '').replaceAll(/\s+/g, ' ').trim();
}

journey('reloaded between two steps: the tool is not called again, and the model is asked for the second step once more', {}, async ({ page, hand }) => {
  const calls = [];
  await page.route('**/tools/order_status', (route) => {
    calls.push(route.request().headers()['idempotency-key']);
    return route.continue();
  });
  // The first step goes through; the second never gets an answer.
  let asked = 0;
  await page.route('**/agent', (route) => {
    asked += 1;
    if (asked !== 2) return route.continue();
  });
  await hand.open();
  const since = hand.events.length;
  await hand.say('where is order A-1042?');
  await hand.shows('order_status', 'result-available');
  while (asked < 2) await page.waitForTimeout(20);
  await page.reload();
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(calls.length, 1);
  assert.equal(asked, 3);
  assert.deepEqual(hand.asked[2].messages, hand.asked[1].messages);
  hand.asked.forEach(isValid);
});

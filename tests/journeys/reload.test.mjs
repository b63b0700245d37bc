// The page is reloaded: nothing is lost, nothing is run twice.

import assert from 'node:assert/strict';
import { journey } from './support/journey.mjs';
import { isValid, resultOf } from './support/thread.mjs';

journey('reloaded during a tool: the thread is back, the call settled, the banner says so, and Try again goes on', {}, async ({ page, hand }) => {
  let calls = 0;
  const slow = page.waitForRequest('**/tools/order_status');
  await page.route('**/tools/order_status', (route) => (calls++ ? route.continue() : undefined));
  await hand.open();
  await hand.say('where is order A-1042?');
  await slow;
  await page.reload();

  await hand.composer.waitFor();
  await hand.thread.getByText('where is order A-1042?').waitFor();
  assert.equal(await hand.card('order_status').count(), 1);
  await hand.shows('order_status', 'failed');
  assert.match(await hand.card('order_status').innerText(), /The page was left or reloaded/);
  const banner = hand.banner('The page was left or reloaded while the agent was at work.');
  await banner.waitFor();
  assert.equal(calls, 1, 'nothing runs by itself');

  const since = hand.events.length;
  await banner.getByRole('button', { name: 'Try again' }).click();
  assert.equal(await hand.ended(since), 'completed');
  const last = hand.asked.at(-1);
  isValid(last);
  assert.match(JSON.stringify(last.messages), /interrupted/, 'the model is told what happened');
  assert.equal(await banner.count(), 0);
  assert.equal(await hand.ask('where is order A-1043?'), 'completed');
  hand.asked.forEach(isValid);
});

journey('reloaded while words arrive: what was whole stays, and Try again answers', { pace: 0.3 }, async ({ page, hand }) => {
  await hand.open();
  await hand.say('write a long answer');
  await hand.thread.getByRole('heading', { name: 'A long answer, to watch one arrive' }).waitFor();
  await page.reload();
  const banner = hand.banner('The page was left or reloaded while the agent was at work.');
  await banner.waitFor();
  const since = hand.events.length;
  await banner.getByRole('button', { name: 'Try again' }).click();
  assert.equal(await hand.ended(since), 'completed');
  hand.asked.forEach(isValid);
});

journey('reloaded during a question: it is not asked again, and nothing was changed', {}, async ({ page, hand }) => {
  await hand.open();
  await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  await page.reload();
  await hand.banner('The page was left or reloaded').waitFor();
  await hand.shows('order_refund', 'failed');
  assert.match(await hand.card('order_refund').innerText(), /It was not run/);
  assert.equal(await hand.approval.count(), 0);
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'shipped');
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

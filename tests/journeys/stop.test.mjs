// The user stops a run: while a tool is at work, while words arrive, and by sending something else.

import assert from 'node:assert/strict';
import { journey } from './support/journey.mjs';
import { isValid, resultOf } from './support/thread.mjs';

for (const [how, press] of [
  ['the button', (hand) => hand.button('Stop').click()],
  ['Escape in the composer', (hand) => hand.composer.press('Escape')],
]) {
  journey(`stopped by ${how} during a tool: the call is cancelled, the run over, and its late result changes nothing`, {}, async ({ page, hand }) => {
    const slow = await slowStatus(page);
    await hand.open();
    const since = await hand.say('where is order A-1042?');
    await hand.shows('order_status', 'running');
    await slow.arrived;
    await press(hand);
    assert.equal(await hand.ended(since), 'stopped');
    await hand.shows('order_status', 'cancelled');
    await hand.banner('You stopped this run.').waitFor();
    assert.equal(await hand.button('Stop').count(), 0);

    const before = await hand.words();
    await slow.release();
    await nextTurns(page);
    assert.equal(await hand.words(), before, 'the late result is not shown');
    assert.equal(hand.asked.length, 1, 'and starts nothing');

    assert.equal(await hand.ask('what is our returns policy?'), 'completed');
    hand.asked.forEach(isValid);
    assert.match(JSON.stringify(resultOf(hand.asked[1], 'order_status')), /cancelled/);
    assert.equal(await hand.banner('You stopped this run.').count(), 0);
  });
}

journey('stopped while words arrive: they stay, are marked, and the connection is let go of', { pace: 1 }, async ({ page, hand }) => {
  await hand.open();
  const since = await hand.say('write a long answer');
  await hand.thread.getByRole('heading', { name: 'A long answer, to watch one arrive' }).waitFor();
  await hand.thread.getByText('nothing here was looked up', { exact: false }).waitFor();
  const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/agent'));
  await hand.button('Stop').click();
  assert.equal(await hand.ended(since), 'stopped');
  await closed;
  await hand.thread.getByText('Stopped here.').waitFor();
  assert.match(await hand.words(), /A long answer, to watch one arrive/);
});

journey('a message sent during a tool ends the run and is answered with a valid history', {}, async ({ page, hand }) => {
  const slow = await slowStatus(page);
  await hand.open();
  const first = await hand.say('where is order A-1042?');
  await slow.arrived;
  const second = await hand.say('what is our returns policy?');
  assert.equal(await hand.ended(first), 'superseded');
  await hand.shows('order_status', 'cancelled');
  assert.equal(await hand.ended(hand.events.findIndex((event) => event.type === 'run-end') + 1), 'completed');
  await slow.release();
  await nextTurns(page);
  hand.asked.forEach(isValid);
  assert.ok(second > first);
});

// Holds the server's answer back until it is released.
async function slowStatus(page) {
  let release, arrive;
  const held = new Promise((resolve) => (release = resolve));
  const arrived = new Promise((resolve) => (arrive = resolve));
  let over;
  await page.route('**/tools/order_status', (route) => {
    over = (async () => {
      const answer = await route.fetch();
      arrive();
      await held;
      // The page has let go of it by now, where it was stopped.
      await route.fulfill({ response: answer }).catch(() => {});
    })();
  });
  return { arrived, release: async () => (release(), over) };
}

async function nextTurns(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100)))));
}

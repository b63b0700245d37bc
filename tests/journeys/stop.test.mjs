// The user stops a run: while a tool is at work, while words arrive, and by sending something else.

import assert from 'node:assert/strict';
import { startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';
import { last, startModel } from './support/model.mjs';
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

journey('a tool of the page hears of the stop by its signal, and what it says later changes nothing', { gateway: false }, async ({ page, hand, hold }) => {
  const model = hold(await startModel((body) => (/wait/.test(last(body).content) ? { calls: [{ name: 'wait_forever' }] } : { text: 'Here I am.' })));
  const gateway = await startGateway({ env: model.env });
  hold({ stop: gateway.kill });
  await page.goto(gateway.url);
  await hand.open();
  await page.evaluate(() => document.querySelector('page-hand').registerTool({
    name: 'wait_forever', owner: 'test', risk: 'read', description: 'Waits until it is stopped, and then says so much too late.',
    run: (args, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => {
      window.aborted = true;
      setTimeout(() => (resolve('too late'), (window.resolved = true)), 50);
    })),
  }));
  const since = await hand.say('wait');
  await hand.shows('wait_forever', 'running');
  await hand.button('Stop').click();
  assert.equal(await hand.ended(since), 'stopped');
  assert.equal(await page.evaluate(() => window.aborted), true);
  await page.waitForFunction(() => window.resolved);
  await hand.shows('wait_forever', 'cancelled');
  assert.equal(await hand.ask('are you there?'), 'completed');
  hand.asked.forEach(isValid);
  assert.doesNotMatch(JSON.stringify(hand.asked.at(-1).messages), /too late/);
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

// Long enough for a late result to be read, were anybody to read it.
async function nextTurns(page) {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
}

// One thread in several tabs: one runs it, the others follow, and nothing happens twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { startGateway } from './support/gateway.mjs';
import { Hand } from './support/hand.mjs';
import { journey } from './support/journey.mjs';
import { isValid } from './support/thread.mjs';

const ELSEWHERE = 'This conversation is open in another tab.';

/** Another tab that has the thread of this one open. */
async function otherTab(context, { hand, url }) {
  const page = await context.newPage();
  const other = await new Hand(page).watch();
  await page.goto(url);
  await other.open();
  const thread = await hand.page.evaluate(() => document.querySelector('page-hand').threadId);
  await page.evaluate((id) => document.querySelector('page-hand').openThread(id), thread);
  await other.banner(ELSEWHERE).waitFor();
  return other;
}

journey('an answer is followed word by word in another tab, and taken over there', { pace: 0.3 }, async ({ hand, gateway, context }) => {
  await hand.open();
  await hand.say('write a long answer');
  await hand.thread.getByRole('heading', { name: 'A long answer, to watch one arrive' }).waitFor();
  const other = await otherTab(context, { hand, url: gateway.url });
  await other.thread.getByText('write a long answer').waitFor();
  await other.thread.getByRole('heading', { name: 'A long answer, to watch one arrive' }).waitFor();
  assert.equal(other.asked.length, 0);

  const since = other.events.length;
  await other.button('Continue here').click();
  await hand.banner(ELSEWHERE).waitFor();
  assert.equal(await other.ended(since, 60_000), 'completed');
  // What had come of it stays, and is marked; the answer is there once.
  const answers = other.thread.locator('.answer').filter({ has: other.page.getByRole('heading', { name: 'A long answer, to watch one arrive' }) });
  assert.deepEqual(await answers.evaluateAll((all) => all.map((answer) => answer.className)), ['answer superseded', 'answer']);
  await hand.page.waitForFunction(() => !document.querySelector('page-hand').shadowRoot.querySelector('[aria-busy]'));
  assert.deepEqual([hand.asked.length, other.asked.length], [1, 1]);
  other.asked.forEach(isValid);
});

journey('the tab that runs an answer is loaded again: the other shows the words that were there, and goes on', { pace: 0.3 }, async ({ page, hand, gateway, context }) => {
  await hand.open();
  await hand.say('write a long answer');
  const title = 'A long answer, to watch one arrive';
  await hand.thread.getByRole('heading', { name: title }).waitFor();
  const other = await otherTab(context, { hand, url: gateway.url });
  await other.thread.getByRole('heading', { name: title }).waitFor();
  await page.reload();
  await hand.composer.waitFor();
  const [runs, follows] = await Promise.race([hand, other].map(async (one, at, both) => {
    await one.thread.locator('.answer:not(.superseded)').getByText(title).waitFor();
    return (await one.banner(ELSEWHERE).count()) === 0 ? [one, both[1 - at]] : new Promise(() => {});
  }));
  for (const one of [runs, follows]) {
    await one.page.waitForFunction(() => !document.querySelector('page-hand').shadowRoot.querySelector('[aria-busy]'));
    const answers = one.thread.locator('.answer').filter({ has: one.page.getByRole('heading', { name: title }) });
    assert.deepEqual(await answers.evaluateAll((all) => all.map((answer) => answer.className)), ['answer superseded', 'answer']);
  }
  assert.equal(hand.asked.length + other.asked.length, 2);
});

journey('a question is open in one tab; the other answers it once the first is gone', {}, async ({ page, hand, gateway, context }) => {
  await hand.open();
  await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  const other = await otherTab(context, { hand, url: gateway.url });
  await other.thread.getByText('Waits for an answer in the other tab').waitFor();
  assert.equal(await other.approval.count(), 0);
  const closed = Date.now();
  await page.close();
  await other.approval.waitFor();
  assert.ok(Date.now() - closed < 2000, `it took ${Date.now() - closed} ms`);
  const since = other.events.length;
  await other.button('Approve').click();
  assert.equal(await other.ended(since), 'completed');
  assert.equal((await other.get('/api/orders/A-1042')).status, 'refunded');
});

journey('the tab that runs a refund crashes; the other finds out what became of it', {}, async ({ page, hand, gateway, context }) => {
  let calls = 0;
  // The gateway gets it, and the page never hears of it.
  await page.route('**/tools/order_refund', async (route) => {
    calls += 1;
    await route.fetch().catch(() => {});
  });
  await hand.open();
  await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  const other = await otherTab(context, { hand, url: gateway.url });
  await hand.button('Approve').click();
  await other.shows('order_refund', 'running');
  await other.page.waitForFunction(async () => (await (await fetch('/api/orders/A-1042')).json()).status === 'refunded');
  const since = other.events.length;
  await page.goto('chrome://crash').catch(() => {});
  assert.equal(await other.ended(since), 'completed');
  await other.shows('order_refund', 'result-available');
  assert.equal(calls, 1);
  assert.equal((await other.get('/api/orders/A-1042')).status, 'refunded');
  hand.complaints.length = 0;
  await page.close();
});

journey('a tab that is duplicated while a tool runs follows, and runs nothing itself', {}, async ({ page, hand, gateway, context }) => {
  const keys = [];
  await context.route('**/tools/order_status', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    await new Promise((done) => setTimeout(done, 1500));
    await route.continue();
  });
  await hand.open();
  const since = await hand.say('where is order A-1042?');
  await hand.shows('order_status', 'running');
  // A window that the page opens begins with a copy of the tab's session storage, as a duplicated tab does.
  const [copy] = await Promise.all([
    context.waitForEvent('page'),
    page.evaluate(() => void window.open(location.href)),
  ]);
  const other = new Hand(copy);
  await other.banner(ELSEWHERE).waitFor();
  assert.equal(await hand.ended(since), 'completed');
  await other.shows('order_status', 'result-available');
  assert.equal(keys.length, 1);
});

// Playwright's Chromium keeps no page in the back/forward cache unless it is told to.
function cached(name, options, body) {
  test(name, async () => {
    const gateway = await startGateway(options);
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    });
    try {
      const page = await browser.newPage();
      const hand = await new Hand(page).watch();
      await page.addInitScript(() => addEventListener('pageshow', (event) => { window.cameBack = event.persisted; }));
      await page.goto(gateway.url);
      await hand.open();
      await body({ page, hand, gateway });
      assert.deepEqual(hand.complaints, []);
    } finally {
      await browser.close();
      await gateway.kill();
    }
  });
}

cached('a page that comes back out of the back/forward cache reads the thread anew and can go on', {}, async ({ page, hand, gateway }) => {
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await page.goto(`${gateway.url}/orders`);
  await hand.thread.getByText('where is order A-1042?').waitFor();
  assert.equal(await hand.ask('where is order A-1043?'), 'completed');
  await page.evaluate(() => history.back());
  await page.waitForFunction(() => window.cameBack === true);
  await hand.thread.getByText('where is order A-1043?').waitFor();
  assert.equal(await hand.banner(ELSEWHERE).count(), 0);
  assert.equal(await hand.ask('where is order A-1044?'), 'completed');
  assert.equal(hand.asked.at(-1).messages.filter((message) => message.role === 'user').length, 3);
});

cached('left in mid-answer: the next page shows its words and goes on, and the one before it comes back out of the cache', { pace: 0.3 }, async ({ page, hand, gateway }) => {
  const since = hand.events.length;
  await hand.say('write a long answer');
  await hand.thread.getByRole('heading', { name: 'A long answer, to watch one arrive' }).waitFor();
  await page.goto(`${gateway.url}/orders`);
  const broken = hand.thread.locator('.superseded');
  await broken.getByText('A long answer, to watch one arrive').waitFor();
  assert.equal(await hand.ended(since), 'completed');
  await page.evaluate(() => history.back());
  await page.waitForFunction(() => window.cameBack === true);
  await hand.thread.locator('.answer:not(.superseded)').getByText('A long answer, to watch one arrive').waitFor();
  assert.equal(await broken.count(), 1);
  assert.equal(hand.asked.length, 2);
});

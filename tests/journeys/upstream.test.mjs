// A model's server that nobody here wrote, behind the gateway: @copilotkit/aimock, in good and in bad moods.

import assert from 'node:assert/strict';
import { freePort, startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';
import { startMock } from './support/mock.mjs';
import { isValid } from './support/thread.mjs';

const ANSWER = 'The order left with **DHL**; its screen is open.';
const FIXTURES = {
  fixtures: [
    {
      match: { userMessage: 'A-1042', hasToolResult: false },
      response: { toolCalls: [
        { name: 'order_status', arguments: JSON.stringify({ order_id: 'A-1042' }) },
        { name: 'navigate', arguments: JSON.stringify({ url: '/orders/A-1042' }) },
      ] },
    },
    { match: { userMessage: 'A-1042', hasToolResult: true }, response: { content: ANSWER } },
    { match: { userMessage: 'hello' }, response: { content: 'Hello. What can I do?' } },
  ],
};

async function open({ page, hand, hold }, ...flags) {
  const port = await freePort();
  const mock = hold(await startMock(port, FIXTURES, ...flags));
  const gateway = hold({ ...(await startGateway({ env: { PAGEHAND_MODEL_URL: `http://127.0.0.1:${port}/v1`, PAGEHAND_MODEL: 'gpt-4o', PAGEHAND_MODEL_KEY: 'sk-mock' } })), stop() { return this.kill(); } });
  await page.goto(gateway.url);
  await hand.open();
  return { mock, restart: async (...flags) => (await mock.stop(), (mock.stop = (await startMock(port, FIXTURES, ...flags)).stop)) };
}

journey('an OpenAI-compatible server asks for calls of both scopes at once, and gets both results', { gateway: false }, async (here) => {
  const { page, hand } = here;
  await open(here);
  await page.getByText('gpt-4o').waitFor();
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await hand.shows('order_status', 'result-available');
  await hand.shows('navigate', 'result-available');
  assert.equal(new URL(page.url()).pathname, '/orders/A-1042');
  assert.match(await hand.words(), /The order left with DHL; its screen is open\./);
  assert.equal(hand.asked.length, 2);
  hand.asked.forEach(isValid);
});

for (const [mood, flag] of [['cuts the line', '--chaos-disconnect'], ['answers with broken JSON', '--chaos-malformed']]) {
  journey(`it ${mood}: the banner says so in words, the thread stays valid, and Try again completes`, { gateway: false }, async (here) => {
    const { page, hand } = here;
    const { restart } = await open(here, flag, '1');
    const reason = await hand.ask('where is order A-1042?');
    assert.match(reason, /^(error|truncated)$/);
    const banner = page.locator('page-hand').getByRole('status').filter({ has: page.getByRole('button', { name: 'Try again' }) });
    const words = await banner.innerText();
    assert.match(words, /server|answer/i);
    assert.doesNotMatch(words, /undefined|null|\{|SyntaxError|http:\/\//);

    await restart();
    const since = hand.events.length;
    await banner.getByRole('button', { name: 'Try again' }).click();
    assert.equal(await hand.ended(since), 'completed');
    assert.match(await hand.words(), /The order left with DHL/);
    hand.asked.forEach(isValid);
  });
}

journey('it asks us to wait: the button counts down and cannot be pressed before, then it works', { gateway: false }, async (here) => {
  const { page, hand } = here;
  const { restart } = await open(here, '--chaos-ratelimit', '1');
  assert.equal(await hand.ask('hello'), 'error');
  assert.equal(hand.events.findLast((event) => event.type === 'error').detail.code, 'rate_limit');
  await hand.banner('Too many requests for now.').waitFor();
  const counting = page.locator('page-hand').getByRole('button', { name: /^Try again in \d+ s$/ });
  await counting.waitFor();
  assert.ok(await counting.isDisabled());
  await restart();
  const button = page.locator('page-hand').getByRole('button', { name: 'Try again', exact: true });
  await button.waitFor();
  const since = hand.events.length;
  await button.click();
  assert.equal(await hand.ended(since), 'completed');
  assert.match(await hand.words(), /Hello\. What can I do\?/);
});

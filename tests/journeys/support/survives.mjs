// What a panel has in hand while the page moves it about.

import assert from 'node:assert/strict';

/**
 * With an answer on its way and a draft begun: whatever `act` does, both go on, in the same panel, which looks as before,
 * and nothing is asked for again. The gateway is a slow one; `posted` has what it was asked.
 */
export async function survives(page, hand, posted, act) {
  const before = posted.length;
  const since = await hand.say('write a long answer');
  await hand.thread.getByRole('heading', { name: 'A long answer' }).waitFor();
  await hand.composer.fill('half a mess');
  const look = () => hand.panel.evaluate((panel) => {
    const { x, y, width, height } = panel.getBoundingClientRect();
    const { display, backgroundColor, fontSize } = getComputedStyle(panel);
    return { x, y, width, height, display, backgroundColor, fontSize };
  });
  const length = () => page.locator('page-hand [part~="assistant-message"]').last().evaluate((answer) => answer.innerText.length);
  const looked = await look();
  const seen = await length();

  await act();
  assert.equal(await hand.composer.inputValue(), 'half a mess');
  assert.deepEqual(await look(), looked);
  assert.equal(hand.events.filter(({ type }) => type === 'ready').length, 1, 'it is the same panel');
  await page.waitForFunction((seen) => {
    const answers = document.querySelector('page-hand').shadowRoot.querySelectorAll('[part~="assistant-message"]');
    return [...answers].at(-1)?.innerText.length > seen;
  }, seen);
  assert.deepEqual(hand.events.slice(since).filter(({ type }) => type === 'run-end'), [], 'it is still at work');
  await hand.button('Stop').click();
  assert.equal((await hand.heard('run-end', () => true, since, 10_000)).detail.reason, 'stopped');
  assert.equal(posted.length, before + 1, 'it was asked for once');
  assert.equal(await hand.composer.inputValue(), 'half a mess');
}

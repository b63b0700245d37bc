// The panel for people who do not see it, do not use a mouse, want no movement, or have little room.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';
import { startModel } from './support/model.mjs';

const AXE = fileURLToPath(new URL('./node_modules/axe-core/axe.min.js', import.meta.url));
const CONNECTION = /net::ERR_/;

for (const colorScheme of ['light', 'dark']) {
  journey(`axe finds nothing in the panel or the page, whatever is shown (${colorScheme})`, { context: { colorScheme } }, async ({ page, hand, gateway }) => {
    await page.addInitScript({ path: AXE });
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await examine(page, 'closed');
    await hand.open();
    await hand.button('What is our returns policy?').waitFor();
    await examine(page, 'empty');
    await hand.ask('where is order A-1042? open it and copy the tracking number');
    await hand.ask('compare A-1042 and A-1043');
    await hand.ask('write a long answer');
    await hand.ask('use the teleport tool');
    for (const details of await page.locator('page-hand summary').all()) await details.click();
    await examine(page, 'after answers');
    await hand.say('refund A-1042 because it arrived damaged');
    await hand.approval.waitFor();
    await examine(page, 'with a question');
    await hand.approval.getByLabel('Arguments').fill('{');
    await hand.button('Approve').click();
    await hand.approval.getByRole('alert').waitFor();
    await examine(page, 'with a refused answer');
    await hand.button('Stop').click();
    await hand.banner('You stopped this run.').waitFor();
    await examine(page, 'stopped');
    hand.expects(CONNECTION);
    await gateway.kill();
    assert.equal(await hand.ask('hello'), 'error');
    await examine(page, 'with an error');
  });
}

journey('an answer that broke off can still be read', { pace: 0.3 }, async ({ page, hand, gateway }) => {
  hand.expects(CONNECTION);
  await page.addInitScript({ path: AXE });
  await page.reload();
  await hand.open();
  const since = await hand.say('write a long answer');
  await hand.thread.getByText('nothing here was looked up', { exact: false }).waitFor();
  await gateway.kill();
  await hand.ended(since);
  await hand.thread.getByText('The answer broke off here').waitFor();
  await examine(page, 'with an answer that broke off');
});

journey('two tables in a thread are no two landmarks of one name', {}, async ({ page, hand }) => {
  await page.addInitScript({ path: AXE });
  await page.reload();
  await hand.open();
  await hand.ask('compare A-1042 and A-1043');
  await hand.ask('compare A-1043 and A-1044');
  await examine(page, 'with two tables', {});
});

journey('Tab goes through the panel from top to bottom, and every stop has a name', {}, async ({ page, hand }) => {
  await hand.open();
  await hand.ask('where is order A-1042?');
  await hand.button('New').focus();
  const stops = [];
  for (let at = 0; at < 12; at++) {
    const stop = await page.evaluate(() => {
      const element = document.querySelector('page-hand').shadowRoot.activeElement;
      return element && `${element.localName} ${(element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent).trim()}`;
    });
    if (!stop) break;
    stops.push(stop);
    await page.keyboard.press('Tab');
  }
  assert.deepEqual(stops, ['button New', 'button Close', 'div Conversation', 'summary Arguments', 'summary Result', 'a A-1042', 'textarea Message to the agent', 'button Send']);
});

// Keeps what is added to a live region, in the page's `said`.
function listen(region) {
  return region.evaluate((element) => {
    window.said = [];
    const added = (changes) => changes.flatMap((change) => [...change.addedNodes]).map((node) => node.textContent);
    new MutationObserver((changes) => window.said.push(...added(changes))).observe(element, { childList: true, subtree: true });
  });
}

journey('a screen reader hears whole sentences, each once, and what became of every call', { pace: 0.2 }, async ({ page, hand }) => {
  await hand.open();
  const region = page.locator('page-hand').getByRole('log');
  assert.equal(await region.getAttribute('aria-live'), 'polite');
  await listen(region);
  await hand.ask('write a long answer');
  const said = (await page.evaluate(() => window.said)).flatMap((text) => text.split('\n'));
  const letters = (text) => text.replaceAll(/[\s.]+/g, '');
  const blocks = await hand.thread.locator('.md').last().evaluate((element) =>
    [...element.querySelectorAll('p, h1, h2, h3, h4, h5, h6, ol, ul, li')].map((block) => block.textContent));
  const known = new Set(blocks.map(letters));
  const whole = (text) => known.has(letters(text)) || /^(Code|Table), \d+ \w+\.$/.test(text);
  assert.deepEqual(said.filter((text) => !whole(text)), [], 'no fragments');
  assert.equal(new Set(said).size, said.length, 'nothing twice');
  assert.ok(said.length >= 10 && said.length < 60, `${said.length} announcements`);
  assert.match(said[0], /A long answer, to watch one arrive/);

  await page.evaluate(() => (window.said = []));
  await hand.ask('where is order A-1042? open it and copy the tracking number');
  const heard = (await page.evaluate(() => window.said)).join('\n');
  for (const words of [/Copy to the clipboard: done\./, /Order A-1042 of Maya Lindqvist/]) assert.match(heard, words);
  await page.evaluate(() => (window.said = []));
  const since = await hand.say('refund A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  assert.match((await page.evaluate(() => window.said)).join('\n'), /Refund an order: needs your approval\./);
  await hand.button('Decline').click();
  await hand.ended(since);
  assert.match((await page.evaluate(() => window.said)).join('\n'), /Refund an order: declined\./);
});

journey('of two calls that end at once, a screen reader hears of both', {}, async ({ page, hand }) => {
  await hand.open();
  await listen(page.locator('page-hand').getByRole('log'));
  const since = await hand.say('refund A-1042 because it arrived damaged and refund A-1043 because it is too small');
  await hand.heard('tool-call', (call) => call.state === 'approval-requested' && call.arguments.includes('1043'), since);
  await hand.button('Stop').click();
  await hand.ended(since);
  const heard = (await page.evaluate(() => window.said)).join('\n');
  assert.equal(heard.match(/Refund an order: cancelled\./g)?.length, 2, heard);
});

for (const width of [360, 320]) {
  journey(`at ${width} pixels nothing has to be scrolled sideways, and everything can be reached`, { context: { viewport: { width, height: 640 } } }, async ({ page, hand }) => {
    const wide = () => page.evaluate(() => {
      const root = document.querySelector('page-hand').shadowRoot;
      const panel = root.querySelector('.panel');
      const over = [document.documentElement, panel, root.querySelector('.scroller')].filter((element) => element.scrollWidth > element.clientWidth);
      const outside = [...panel.querySelectorAll('button, textarea, .call, .user, .answer, .banner')].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width && (box.left < -1 || box.right > innerWidth + 1);
      });
      return [...over, ...outside].map((element) => `${element.localName}.${element.className}`);
    });
    await hand.open();
    assert.deepEqual(await wide(), []);
    await hand.ask('compare A-1042 and A-1043');
    await hand.ask('write a long answer');
    assert.deepEqual(await wide(), []);
    const since = await hand.say('refund A-1042 because it arrived damaged');
    await hand.approval.waitFor();
    assert.deepEqual(await wide(), []);
    const small = await page.evaluate(() => [...document.querySelector('page-hand').shadowRoot.querySelectorAll('button:not([hidden]):not(.md *)')]
      .map((button) => [button.textContent.trim() || button.getAttribute('aria-label'), button.getBoundingClientRect()])
      .filter(([, box]) => box.width && (box.height < 24 || box.width < 24)).map(([name]) => name));
    assert.deepEqual(small, [], 'large enough to hit (WCAG 2.5.8)');
    await hand.button('Decline').click();
    await hand.ended(since);
    await hand.button('Close').click();
    await page.getByRole('button', { name: 'Pagehand', exact: true }).waitFor();
  });
}

journey('words of a script that runs from the right begin there, and code does not', { gateway: false }, async ({ page, hand, hold }) => {
  const words = 'שלום world.';
  const model = hold(await startModel(() => ({ text: `${words}\n\n- ${words}\n\n\`\`\`js\nconst hello = "${words}";\n\`\`\`\n` })));
  const gateway = await startGateway({ env: model.env });
  hold({ stop: gateway.kill });
  await page.goto(gateway.url);
  await hand.open();
  await hand.composer.fill(words);
  assert.equal(await hand.ask(words), 'completed');
  // At which end of its box the first character of an element stands.
  const begins = (selector) => page.locator(`page-hand ${selector}`).last().evaluate((element) => {
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
    const range = document.createRange();
    range.setStart(text, 0);
    range.setEnd(text, 1);
    const [first, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
    return first.left - box.left < box.right - first.right ? 'left' : 'right';
  });
  for (const selector of ['.md p', '.md li']) assert.equal(await begins(selector), 'right', selector);
  assert.equal(await begins('.md pre'), 'left');
});

journey('who wants no movement gets none', { context: { reducedMotion: 'reduce' }, pace: 0.2 }, async ({ page, hand }) => {
  const moving = () => page.evaluate(() => document.querySelector('page-hand').shadowRoot.getAnimations().map((animation) => animation.animationName ?? animation.transitionProperty));
  await page.route('**/tools/order_status', async (route) => {
    assert.deepEqual(await moving(), [], 'while a tool runs');
    await route.continue();
  });
  await hand.open();
  const since = await hand.say('where is order A-1042?');
  assert.deepEqual(await moving(), [], 'while the model is awaited');
  assert.equal(await hand.ended(since), 'completed');
});

// `landmark-unique` has a journey of its own.
async function examine(page, when, rules = { 'landmark-unique': { enabled: false } }) {
  const violations = await page.evaluate(async (rules) => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'], rules });
    return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id} (${help}): ${node.target.flat().join(' ')} ${node.failureSummary}`));
  }, rules);
  assert.deepEqual(violations, [], when);
}

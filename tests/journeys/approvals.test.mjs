// The user is asked before something changes: yes, no, not like this, and only once where once is enough.

import assert from 'node:assert/strict';
import { journey } from './support/journey.mjs';
import { isValid, resultOf } from './support/thread.mjs';

const REFUND = 'refund order A-1042 because it arrived damaged';

journey('an approved refund is made, and the page shows it', {}, async ({ page, hand }) => {
  await page.goto(new URL('/orders/A-1042', page.url()).href);
  await hand.open();
  const since = await asked(hand, REFUND);
  const question = await hand.approval.innerText();
  assert.match(question, /This cannot be undone/);
  assert.match(await hand.approval.getByLabel('Arguments').inputValue(), /"order_id": "A-1042"/);
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'shipped', 'nothing happens before the answer');
  await hand.button('Approve').click();
  assert.equal(await hand.ended(since), 'completed');

  await hand.shows('order_refund', 'result-available');
  const order = await hand.get('/api/orders/A-1042');
  assert.equal(order.status, 'refunded');
  assert.match(JSON.stringify(order.refund), /arrived damaged/);
  assert.match(await hand.words(), /Refunded €681\.90 for order A-1042/);
  await page.getByText('refunded', { exact: false }).first().waitFor();
});

journey('a refund whose arguments the user changed is made as changed, and the model is told', {}, async ({ hand }) => {
  await hand.open();
  const since = await asked(hand, REFUND);
  const area = hand.approval.getByLabel('Arguments');
  const written = JSON.parse(await area.inputValue());
  await area.fill(JSON.stringify({ ...written, reason: 'Wrong size' }));
  await hand.button('Approve').click();
  assert.equal(await hand.ended(since), 'completed');

  const order = await hand.get('/api/orders/A-1042');
  assert.match(JSON.stringify([order.refund, order.history]), /Wrong size/);
  assert.doesNotMatch(JSON.stringify([order.refund, order.history]), /arrived damaged/);
  const last = hand.asked.at(-1);
  isValid(last);
  assert.match(JSON.stringify(resultOf(last, 'order_refund')), /Wrong size/, 'the model reads what really ran');
  assert.match(JSON.stringify(resultOf(last, 'order_refund')), /The user changed the arguments/);
  assert.match(await hand.card('order_refund').locator('pre').first().textContent(), /Wrong size/, 'and so does the user');
});

const UNREAD = 'src/providers/demo/read.rs: the demo model does not look into { note, arguments, result }';
journey('the demo model answers with the reason and the sum on record, not with those it had asked for', { todo: UNREAD }, async ({ hand }) => {
  await hand.open();
  const since = await asked(hand, REFUND);
  const area = hand.approval.getByLabel('Arguments');
  await area.fill((await area.inputValue()).replace('it arrived damaged', 'Wrong size'));
  await hand.button('Approve').click();
  assert.equal(await hand.ended(since), 'completed');
  assert.match(await hand.words(), /Refunded €681\.90 for order A-1042\. The reason on record is “Wrong size”/);
});

const FORGOTTEN = 'src/agent/transcript.rs: a fold leaves out the arguments of Entry::Decision';
journey('after a reload the card of a changed call still shows the arguments it ran with', { todo: FORGOTTEN }, async ({ page, hand }) => {
  await hand.open();
  const since = await asked(hand, REFUND);
  const area = hand.approval.getByLabel('Arguments');
  await area.fill((await area.inputValue()).replace('it arrived damaged', 'Wrong size'));
  await hand.button('Approve').click();
  await hand.ended(since);
  await page.reload();
  await hand.shows('order_refund', 'result-available');
  const shown = await hand.card('order_refund').locator('pre').first().textContent();
  assert.match(shown, /Wrong size/);
});

journey('a declined refund changes nothing, and the model asks what is wanted instead', {}, async ({ hand }) => {
  await hand.open();
  const before = await hand.get('/api/orders/A-1042');
  const since = await asked(hand, REFUND);
  await hand.button('Decline').click();
  assert.equal(await hand.ended(since), 'completed');
  await hand.shows('order_refund', 'denied');
  assert.deepEqual(await hand.get('/api/orders/A-1042'), before);
  assert.match(JSON.stringify(resultOf(hand.asked.at(-1), 'order_refund')), /declined/);
  assert.match(await hand.words(), /What would you like instead\?/);
  assert.equal(await hand.ask('thanks'), 'completed');
  isValid(hand.asked.at(-1));
});

journey('arguments that are no JSON, or do not fit, are refused with words, and the question stays', {}, async ({ hand }) => {
  await hand.open();
  const since = await asked(hand, REFUND);
  const area = hand.approval.getByLabel('Arguments');
  const written = await area.inputValue();

  await area.fill('{"order_id": ');
  await hand.button('Approve').click();
  const alert = hand.approval.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /not a JSON object/);
  assert.equal(await area.inputValue(), '{"order_id": ', 'what was typed is still there');

  await area.fill('{"order_id": 7}');
  await hand.button('Approve').click();
  await alert.filter({ hasText: /order_id/ }).waitFor();
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'shipped');

  await area.fill(written);
  await hand.button('Approve').click();
  assert.equal(await hand.ended(since), 'completed');
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'refunded');
});

journey('a write asks once a session; something that cannot be undone asks every time', {}, async ({ hand }) => {
  await hand.open();
  const first = await asked(hand, 'add a note to order A-1042: called the customer');
  await hand.button('Approve').click();
  assert.equal(await hand.ended(first), 'completed');
  assert.equal(await hand.ask('add a note to order A-1042: they called back'), 'completed');
  const notes = JSON.stringify((await hand.get('/api/orders/A-1042')).notes);
  assert.match(notes, /called the customer/);
  assert.match(notes, /they called back/);
  const states = hand.calls().filter((call) => call.name === 'order_note_add').map((call) => call.states.includes('approval-requested'));
  assert.deepEqual(states, [true, false]);
});

journey('the question takes the focus, no stray key answers it, and the composer has it back after the answer', {}, async ({ page, hand }) => {
  await hand.open();
  const since = await asked(hand, REFUND);
  assert.equal(await focus(page), 'Approval');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  assert.ok(await hand.approval.isVisible(), 'Enter and Space on the question decide nothing');
  await page.keyboard.press('Tab');
  assert.match(await focus(page), /textarea/);
  await page.keyboard.press('Tab');
  assert.equal(await focus(page), 'button Approve');
  await page.keyboard.press('Enter');
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await focus(page), 'textarea composer');
});

journey('where the browser wants a gesture for the clipboard, the panel asks for a click and then copies', { permissions: [] }, async ({ page, hand }) => {
  // As browsers do that have no such permission to ask for: without a fresh click, no.
  await page.evaluate(() => {
    const write = navigator.clipboard.writeText.bind(navigator.clipboard);
    window.copied = [];
    navigator.clipboard.writeText = async (text) => {
      if (!window.clicked) throw new DOMException('Write permission denied.', 'NotAllowedError');
      window.copied.push(text);
      return write(text);
    };
    document.addEventListener('click', () => (window.clicked = true), true);
  });
  await hand.open();
  await page.evaluate(() => (window.clicked = false));
  const since = await asked(hand, 'copy the tracking number of order A-1042');
  assert.match(await hand.approval.innerText(), /The browser wants your click/);
  assert.match(await hand.approval.getByLabel('Arguments').inputValue(), /JD014600003RE1042/);
  await hand.button('Approve').click();
  assert.equal(await hand.ended(since), 'completed');
  assert.deepEqual(await page.evaluate(() => window.copied), ['JD014600003RE1042']);
});

// Says something and waits for the question it leads to.
async function asked(hand, text) {
  const since = await hand.say(text);
  await hand.heard('tool-call', (call) => call.state === 'approval-requested', since);
  await hand.approval.waitFor();
  await hand.page.waitForFunction(() => document.querySelector('page-hand').shadowRoot.activeElement?.closest('.approval'));
  return since;
}

async function focus(page) {
  return page.evaluate(() => {
    const element = document.querySelector('page-hand').shadowRoot.activeElement;
    if (element?.getAttribute('role') === 'group') return element.getAttribute('aria-label');
    if (element?.localName === 'button') return `button ${element.textContent.trim()}`;
    return `${element?.localName} ${element?.closest('.composer') ? 'composer' : ''}`.trim();
  });
}

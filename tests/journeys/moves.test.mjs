// Taken out and put back in the same breath, as libraries do that know nothing of what they move: it goes on.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { once, startHost } from './support/host.mjs';
import { journey } from './support/journey.mjs';
import { survives } from './support/survives.mjs';

const slow = once(() => startHost({ pace: 0.5 }));
after(() => slow.stop());

// Each runs in the page, and is given the element.
const MOVES = {
  'a swap that waits for some promises, as of htmx and Turbo': async (hand) => {
    const place = hand.parentElement;
    hand.remove();
    for (let turn = 0; turn < 20; turn++) await null;
    place.append(hand);
  },
  'a swap that waits for a timer of no time, as of Alpine and jQuery': async (hand) => {
    const place = hand.parentElement;
    hand.remove();
    await new Promise((done) => setTimeout(done));
    place.append(hand);
  },
  'innerHTML that is emptied, and the element kept aside, as hx-preserve does': async (hand) => {
    const place = hand.parentElement;
    const pantry = document.createElement('div');
    place.innerHTML = '';
    pantry.append(hand);
    await null;
    place.innerHTML = '<i></i>';
    place.querySelector('i').replaceWith(hand);
  },
  'a body that takes the place of another, as of Astro': async (hand) => {
    const body = document.createElement('body');
    body.innerHTML = '<h1>Another page</h1><div class="box"><i></i></div>';
    document.body.replaceWith(body);
    await null;
    document.querySelector('i').replaceWith(hand);
  },
  'a View Transition': async (hand) => {
    const transition = document.startViewTransition(async () => {
      const place = hand.parentElement;
      hand.remove();
      await null;
      place.append(hand);
    });
    await transition.finished;
  },
  moveBefore: async (hand) => {
    const before = hand.parentElement;
    const place = before.cloneNode();
    before.before(place);
    place.moveBefore(hand, null);
    before.remove();
  },
  'the document of a frame, and the way back': async (hand) => {
    const place = hand.parentElement;
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.contentDocument.adoptNode(hand);
    frame.contentDocument.body.append(hand);
    await null;
    document.adoptNode(hand);
    place.append(hand);
    frame.remove();
  },
  'a list that is sorted ten times': async (hand) => {
    const place = hand.parentElement;
    const other = document.createElement('p');
    for (let turn = 0; turn < 10; turn++) {
      for (const child of turn % 2 ? [hand, other] : [other, hand]) place.append(child);
      await null;
    }
    other.remove();
  },
};

for (const [name, move] of Object.entries(MOVES)) {
  for (const placement of ['docked', 'inline']) {
    journey(`${placement}, its draft and its answer outlive ${name}`, { gateway: false }, async ({ page, hand }) => {
      const { url, posted } = await slow.get();
      page.setDefaultTimeout(10_000);
      await page.goto(`${url}/hosts/bare.html?placement=${placement}`);
      if (placement === 'docked') await hand.open('Assistant');
      await hand.composer.waitFor();
      await survives(page, hand, posted, () => page.locator('page-hand').evaluate(move));
      assert.equal(await page.locator('page-hand').evaluate((element) => element.isOpen), true);
    });
  }
}

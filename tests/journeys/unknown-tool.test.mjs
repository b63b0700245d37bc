// The model calls a tool that nobody has.

import assert from 'node:assert/strict';
import { journey } from './support/journey.mjs';
import { isValid, resultOf } from './support/thread.mjs';

journey('a call of an unknown tool fails on its card, is explained to the model, and the thread goes on', {}, async ({ hand }) => {
  await hand.open();
  assert.equal(await hand.ask('use the teleport tool'), 'completed');
  await hand.shows('teleport', 'failed');
  const card = await hand.card('teleport').innerText();
  assert.match(card, /There is no tool named "teleport"/);
  assert.match(card, /not run/);
  const result = resultOf(hand.asked[1], 'teleport');
  assert.match(JSON.stringify(result), /unknown_tool/);
  assert.match(JSON.stringify(result), /Do not call/);
  assert.match(await hand.words(), /I called teleport on purpose/);

  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  assert.match(await hand.words(), /Order A-1042 of/);
  hand.asked.forEach(isValid);
});

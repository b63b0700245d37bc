// Threads by hand and by chance, for every vendor: no body breaks a rule that its vendor is known to refuse.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOOLS, request, write } from './support/codec.mjs';
import { Random } from './support/random.mjs';
import { CHECKS } from './support/rules.mjs';
import { THREADS, answer, call, system, tool, user } from './support/threads.mjs';

const COUNT = Number(process.env.PAGEHAND_PARTIES_COUNT ?? 150);
const SEED = Number(process.env.PAGEHAND_PARTIES_SEED ?? 1);

/** A thread such as a long life makes: cancelled, resumed, from several vendors, with results that are late or missing. */
function thread(random) {
  const messages = random.often(0.3) ? [system('Be brief.')] : [];
  const ids = [];
  const callId = () => {
    if (ids.length && random.often(0.1)) return random.one(ids);
    const id = random.one([`call_${random.letters(8)}`, `functions.get_time:${random.below(3)}`, random.letters(9), `toolu_${random.letters(20)}`, random.letters(80), 'ø/1', '']);
    ids.push(id);
    return id;
  };
  const turns = random.between(1, 6);
  for (let at = 0; at < turns; at += 1) {
    const before = messages.at(-1);
    // Two answers in a row have a test of their own.
    if (random.often(0.8) || (before?.role === 'assistant' && !before.toolCalls)) messages.push(user(random.often(0.9) ? random.text(5) : ''));
    if (random.often(0.2)) messages.push(user(random.text(3)));
    const own = new Set();
    const calls = Array.from({ length: random.below(4) }, () => {
      const id = callId();
      if (own.has(id)) return null;
      own.add(id);
      const args = random.often(0.8) ? random.object() : random.one(['', '{"zone":', '[1]', 'null', '"{\\"zone\\":\\"x\\"}"', '{}']);
      return call(id, random.one(['get_weather', 'get_time', 'list_open', 'unknown_tool', 'shop/cart.add', `long_${'x'.repeat(80)}`]), args, random.often(0.2));
    }).filter(Boolean);
    if (random.often(0.8) || calls.length) messages.push(answer(random.often(0.6) ? random.text(4) : '', ...calls));
    const results = calls.filter(() => random.often(0.85)).map((one) => tool(one.id, random.one(['', '4', 'null', '{"tempC":4}', '[1]', 'ERROR', random.text(4)]), random.often(0.2) ? 'tool_error' : undefined));
    if (random.often(0.3)) results.reverse();
    messages.push(...results);
  }
  const last = messages.findLast((message) => message.role !== 'tool');
  if (random.often(0.7) || last.role === 'system' || (last.role === 'assistant' && !last.toolCalls)) messages.push(user(random.text(4)));
  return request(messages, { tools: random.often(0.8) ? TOOLS : [] });
}

for (const [vendor, check] of Object.entries(CHECKS)) {
  test(`${vendor}: ${THREADS.length} threads by hand and ${COUNT} by chance break no rule`, async () => {
    const all = [
      ...THREADS.map(({ name, input, files }) => ({ name, input, files })),
      ...Array.from({ length: COUNT }, (_, at) => ({ name: `seed ${SEED}, thread ${at}`, input: thread(new Random(SEED * 5_000_011 + at)) })),
    ];
    for (const { name, input, files } of all) {
      const { body, error } = await write(vendor, input);
      if (error && files) continue;
      assert.equal(error, undefined, name);
      try {
        check(body);
      } catch (broken) {
        broken.message = `${name}: ${broken.message}\n${JSON.stringify(input.messages)}\n→ ${JSON.stringify(body)}`;
        throw broken;
      }
    }
  });
}

test('gemini: two answers in a row, as after a pause', async () => {
  const asked = user('Weather?');
  const { body } = await write('gemini', request([asked, answer('Wait.'), answer('', call('call_a', 'get_weather', { city: 'Oslo' })), tool('call_a', '4')]));
  CHECKS.gemini(body);
});

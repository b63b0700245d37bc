// Streams by chance: whoever reads one, an official SDK or our decoder, must find what was put in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from './support/codec.mjs';
import { answer, expected, stream } from './support/generate.mjs';
import { APIS, ours, party } from './support/parties.mjs';
import { Random } from './support/random.mjs';
import { serving } from './support/server.mjs';

const COUNT = Number(process.env.PAGEHAND_PARTIES_COUNT ?? 150);
const SEED = Number(process.env.PAGEHAND_PARTIES_SEED ?? 1);

for (const api of APIS) {
  test(`${api}: ${COUNT} streams say the same to its SDK and to us`, async () => {
    for (let at = 0; at < COUNT; at += 1) {
      const random = new Random(SEED * 100_003 + at);
      const said = answer(random, api);
      const bytes = stream(api, random, said);
      const wanted = expected(said);
      const where = `seed ${SEED}, stream ${at}:\n${bytes}`;
      const theirs = await serving(bytes, { random, type: api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream' }, (url) => party(api, url));
      assert.deepEqual(theirs, wanted, `the SDK reads it otherwise; ${where}`);
      assert.deepEqual(ours(await read(api, bytes)), wanted, `we read it otherwise; ${where}`);
    }
  });
}

for (const api of APIS) {
  test(`${api}: ${COUNT} streams cut anywhere are unfinished, or whole`, async () => {
    for (let at = 0; at < COUNT; at += 1) {
      const random = new Random(SEED * 300_007 + at);
      const bytes = Buffer.from(stream(api, random, answer(random, api)));
      const whole = ours(await read(api, bytes));
      const end = random.below(bytes.length);
      const mark = bytes.lastIndexOf('[DONE]');
      // Inside of the mark: see aimock.test.mjs.
      if (mark >= 0 && end > mark) continue;
      const said = ours(await read(api, bytes.subarray(0, end)));
      const where = `seed ${SEED}, stream ${at}, cut at ${end}: ${JSON.stringify(said)}\n${bytes.subarray(0, end)}`;
      assert.equal(said.error, undefined, where);
      if (said.finish !== null) {
        assert.deepEqual({ ...said, usage: null }, { ...whole, usage: null }, where);
        continue;
      }
      assert.deepEqual(said.calls, [], where);
      assert.ok(whole.text.startsWith(said.text.replace(/\ufffd$/, '')), where);
    }
  });

  test(`${api}: ${COUNT} streams with broken bytes are read to an end, and an unfinished one holds no call`, async () => {
    for (let at = 0; at < COUNT; at += 1) {
      const random = new Random(SEED * 700_001 + at);
      const said = answer(random, api);
      const bytes = [...Buffer.from(stream(api, random, said))];
      for (let faults = random.between(1, 5); faults; faults -= 1) {
        const from = random.below(bytes.length);
        const piece = bytes.slice(from, from + random.between(1, 40));
        random.one([
          () => (bytes[from] = random.below(256)),
          () => bytes.splice(from, piece.length),
          () => bytes.splice(from, 0, ...piece),
          () => bytes.splice(from, 0, ...Buffer.from(random.one(['\n\n', 'data: ', '{', '"', '[DONE]', '\ud83d', 'null', ']}']))),
        ])();
      }
      const found = await read(api, Buffer.from(bytes));
      assert.ok(Array.isArray(found.calls));
      assert.ok(found.error === null || found.finish === null, 'an end is one thing');
      if (found.finish === null) assert.deepEqual(found.calls, []);
    }
  });
}

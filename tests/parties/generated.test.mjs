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

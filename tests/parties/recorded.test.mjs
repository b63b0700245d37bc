// What a real server sent: llama.cpp (of xllamacpp 2026.10.11549) with SmolLM2-135M and a template for tools, in three APIs,
// recorded by llama.test.mjs. The bytes are as they came. Its Responses and Messages are imitations with ways of their own.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { read } from './support/codec.mjs';
import { holds } from './support/holds.mjs';
import { ours, party } from './support/parties.mjs';
import { serving } from './support/server.mjs';

const APIS = { llama_cpp: 'openai_chat', openai_responses: 'openai_responses', anthropic: 'anthropic' };

const SAYS = {
  'call.sse': { text: '', calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }], finish: 'calls' },
  'words.sse': { text: 'It is 4 degrees in Oslo.', calls: [], finish: 'done' },
  'limit.sse': { text: '', calls: [{ name: 'get_weather', arguments: undefined }], finish: 'length' },
};

const NO_PLACES = { why: 'the server gives items no places, by which alone the SDK goes', theirs: { error: true } };

const DIFFERS = {
  'openai_responses/call.sse': NO_PLACES,
  'openai_responses/words.sse': NO_PLACES,
  // The server calls an answer completed that the limit has cut; the arguments tell.
  'openai_responses/limit.sse': { ...NO_PLACES, finish: 'calls' },
  'anthropic/limit.sse': { why: 'the SDK makes arguments of what was cut', theirs: { finish: 'length' } },
};

const nameless = ({ calls, ...rest }) => ({ ...rest, calls: calls?.map(({ id, ...one }) => one) });

for (const [vendor, api] of Object.entries(APIS)) {
  for (const [file, says] of Object.entries(SAYS)) {
    const differs = DIFFERS[`${vendor}/${file}`];
    test(`${vendor}/${file}${differs ? ` (the SDK differs: ${differs.why})` : ''}`, async () => {
      const bytes = readFileSync(new URL(`recorded/${vendor}/${file}`, import.meta.url));
      const our = ours(await read(vendor, bytes));
      holds(nameless(our), { ...says, finish: differs?.finish ?? says.finish }, 'we');
      const theirs = await serving(bytes, {}, (url) => party(api, url));
      if (differs) return holds(theirs, differs.theirs, 'the SDK');
      assert.deepEqual(theirs, our);
    });
  }

  test(`${vendor}: a thread that is too long`, async () => {
    const { error } = await read(vendor, readFileSync(new URL(`recorded/${vendor}/too_long.json`, import.meta.url)));
    assert.match(error.message, /exceeds the available context size/);
    assert.equal(error.kind, 'bad_request');
  });
}

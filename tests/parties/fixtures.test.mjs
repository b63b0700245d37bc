// The fixtures that our own tests read, read by the SDK of their API: it makes the same of each, or the table below says
// why it does not.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { read } from './support/codec.mjs';
import { holds } from './support/holds.mjs';
import { APIS, ours, party } from './support/parties.mjs';
import { serving } from './support/server.mjs';

const HOME = new URL('../fixtures/providers/', import.meta.url);

// Most fixtures leave out who speaks, without which OpenAI's SDK reads nothing.
const SPEAKER = 'data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}\n\n';

const NO_INDEX = { why: 'the SDK wants an index at each call; Ollama before 0.4.7 and Gemini have none', theirs: { error: /invalid tool call index/ } };
const NO_CHOICES = { why: 'the SDK knows an error by its field "error" at the top of an object alone; it throws, but for want of choices', theirs: { error: /choices is not iterable/ } };

const DIFFERS = {
  'openai_chat/arguments_whole.sse': { why: 'the SDK wants a type at each call, and arguments that are text', theirs: { error: /missing `type`/ } },
  'openai_chat/error_gemini.sse': NO_CHOICES,
  'openai_chat/error_vllm.sse': NO_CHOICES,
  'openai_chat/finish_null.sse': { why: 'the SDK takes no [DONE] in place of a reason', theirs: { error: /missing finish_reason/ } },
  'openai_chat/glued.sse': { why: 'one event, one JSON to the SDK', theirs: { error: /malformed/ } },
  'openai_chat/id_changes.sse': { why: 'the SDK keeps the last id of a call; ours the first, as it was announced', theirs: { calls: [{ id: 'call_y', name: 'get_weather', arguments: { city: 'Oslo' } }] } },
  'openai_chat/id_empty_later.sse': { why: 'the SDK wants an index at each choice', theirs: { error: /invalid choice index/ } },
  'openai_chat/id_missing.sse': { why: 'the SDK makes ids up; ours says that there are none', ids: false },
  'openai_chat/index_always_zero.sse': { why: 'to the SDK one index is one call, so the arguments of two become no JSON', theirs: { calls: [{ id: 'call_b', name: 'get_weather', arguments: undefined }] } },
  'openai_chat/index_missing.sse': NO_INDEX,
  'openai_chat/index_missing_pieces.sse': NO_INDEX,
  'openai_chat/index_reused.sse': { why: 'as index_always_zero', one: true },
  'openai_chat/last_chunk_repeats.sse': { why: 'the SDK writes the repeated arguments behind the first', theirs: { calls: [{ id: 'call_a', name: 'get_weather', arguments: undefined }] } },
  'openai_chat/reasoning_ollama.sse': { why: 'the SDK knows no field "reasoning"', theirs: { text: 'Hæ.', reasoning: '' } },
};

const nameless = ({ calls, ...rest }) => ({ ...rest, calls: calls.map(({ id, ...call }) => call) });

for (const api of APIS.filter((api) => existsSync(new URL(api, HOME)))) {
  for (const file of readdirSync(new URL(`${api}/`, HOME))) {
    const name = `${api}/${file}`;
    const differs = DIFFERS[name];
    test(`${name}${differs ? ` (the SDK differs: ${differs.why})` : ''}`, async () => {
      const bytes = Buffer.concat([Buffer.from(api === 'openai_chat' ? SPEAKER : ''), readFileSync(new URL(name, HOME))]);
      const type = api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream';
      const theirs = await serving(bytes, { type }, (url) => party(api, url));
      const our = ours(await read(api === 'openai_chat' ? 'openai_compatible' : api, bytes));
      if (differs?.ids === false) return assert.deepEqual(nameless(our), nameless(theirs));
      if (differs?.one) return assert.equal(theirs.calls.length, 1);
      if (differs) return holds(theirs, differs.theirs, 'the SDK');
      if (our.error) return assert.ok(theirs.error, `we say "${our.error}", the SDK ${JSON.stringify(theirs)}`);
      assert.deepEqual(our, theirs, 'the SDK reads it otherwise; if it is the SDK that is wrong, say so in DIFFERS');
    });
  }
}

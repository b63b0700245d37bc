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

// Many servers announce no parts of an item, without which the SDK reads no piece of one; so both read them announced.
function announced(bytes) {
  const known = new Set();
  const PART = {
    'response.output_text.delta': ['response.content_part.added', { type: 'output_text', text: '', annotations: [] }],
    'response.refusal.delta': ['response.content_part.added', { type: 'refusal', refusal: '' }],
    'response.reasoning_text.delta': ['response.content_part.added', { type: 'reasoning_text', text: '' }],
    'response.reasoning_summary_text.delta': ['response.reasoning_summary_part.added', { type: 'summary_text', text: '' }],
  };
  const before = (event) => {
    const place = `${event.item_id} ${event.output_index} ${event.content_index} ${event.summary_index}`;
    if (/part\.added$/.test(event.type)) known.add(place);
    const [type, part] = PART[event.type] ?? [];
    if (!type || known.has(place)) return '';
    known.add(place);
    const { delta, sequence_number, ...where } = event;
    return `event: ${type}\ndata: ${JSON.stringify({ ...where, type, part })}\n\n`;
  };
  return bytes.toString().split('\n\n').map((block) => {
    const data = block.split('\n').find((line) => line.startsWith('data: {'));
    return (data ? before(JSON.parse(data.slice(6))) : '') + block;
  }).join('\n\n');
}

// What stands before the stream of a fixture, and what is changed in it, so that its SDK reads it at all.
const READABLE = {
  openai_chat: (bytes) => SPEAKER + bytes,
  openai_responses: announced,
  // Their first line says where they come from, which JSON lines have no words for.
  ollama: (bytes) => bytes.toString().replace(/^[^{].*\n/, ''),
};

const NO_INDEX = { why: 'the SDK wants an index at each call; Ollama before 0.4.7 and Gemini have none', theirs: { error: /invalid tool call index/ } };
const NO_CHOICES = { why: 'the SDK knows an error by its field "error" at the top of an object alone; it throws, but for want of choices', theirs: { error: /choices is not iterable/ } };

const REFUSED_OF = (id) => ({ why: 'to the SDK a call that a filter cut off before its first letter has no arguments, and would be run; to us it is none', theirs: { calls: [{ id, name: 'get_weather', arguments: {} }], finish: 'refused' } });
const HANDED_ON = (finish) => ({ why: 'the SDK hands the reason on; for us no answer is an error, in words', theirs: { calls: [], finish } });
const UNSEEN = { why: 'the SDK wants each item and each place announced', theirs: { error: /missing output|non-empty|Unhandled/ } };

const DIFFERS = {
  'anthropic/max_tokens_cut_tool.sse': { why: 'the SDK makes arguments of what was cut', theirs: { finish: 'length', calls: [{ id: 'toolu_a', name: 'get_weather', arguments: { city: 'Oslo' } }, { id: 'toolu_b', name: 'get_weather', arguments: {} }] } },
  'anthropic/max_tokens_no_args.sse': { why: 'to the SDK a call whose arguments were cut off before their first letter has none, and would be run', theirs: { calls: [{ id: 'toolu_a', name: 'get_weather', arguments: {} }] } },
  'anthropic/refusal_call.sse': REFUSED_OF('toolu_a'),
  'gemini/blocked_prompt.sse': HANDED_ON(null),
  'gemini/malformed.sse': HANDED_ON('MALFORMED_FUNCTION_CALL'),
  'gemini/nameless_call.sse': { why: 'the SDK hands parts on as they came: later arguments are calls without a name', many: 4 },
  'gemini/missing_signature.sse': HANDED_ON('MISSING_THOUGHT_SIGNATURE'),
  'gemini/unexpected_call.sse': HANDED_ON('UNEXPECTED_TOOL_CALL'),
  'gemini/continuation.sse': { why: 'the SDK asks again by itself, and hears the same from our server', theirs: { text: 'HiHi' } },
  'ollama/load.ndjson': HANDED_ON('done'),
  'ollama/unload.ndjson': HANDED_ON('done'),
  'openai_responses/arguments_differ.sse': { why: 'the SDK takes the later ones', theirs: { calls: [{ id: 'call_a', name: 'get_weather', arguments: { city: 'Rome' } }] } },
  'openai_responses/arguments_at_the_end.sse': { why: 'the SDK reads arguments of pieces, and of the whole answer at the end, alone', theirs: { calls: [{ id: 'call_a', name: 'get_weather', arguments: {} }] } },
  'openai_responses/done_without_added.sse': UNSEEN,
  'openai_responses/event_after_completed.sse': UNSEEN,
  'openai_responses/no_call_id.sse': UNSEEN,
  'openai_responses/no_places.sse': { why: 'the SDK goes by places alone', theirs: { error: true } },
  'openai_responses/unknown_items.sse': UNSEEN,
  'openai_chat/args_cut_eof.sse': { why: 'the SDK says by an error that the stream was cut', theirs: { error: /missing finish_reason/ } },
  'openai_chat/done_in_call.sse': { why: 'the SDK says by an error that the stream was cut', theirs: { error: /missing finish_reason/ } },
  'openai_chat/filtered_call.sse': REFUSED_OF('call_a'),
  'openai_chat/out_of_resource.sse': HANDED_ON('insufficient_system_resource'),
  'openai_chat/same_index_no_ids.sse': { why: 'the SDK wants a type at each call', theirs: { error: /missing `type`/ } },
  'openai_chat/extra_content.sse': NO_INDEX,
  'openai_chat/mistral_parts.sse': { why: 'the SDK makes a text of a list of parts', theirs: { text: '[object Object][object Object]' } },
  'openai_chat/reasoning_details.sse': { why: 'the SDK knows no thoughts', theirs: { text: 'Checking.', reasoning: '' } },
  'openai_chat/arguments_whole.sse': { why: 'the SDK wants a type at each call, and arguments that are text', theirs: { error: /missing `type`/ } },
  'openai_chat/error_in_choice.sse': HANDED_ON('error'),
  'openai_chat/finish_error.sse': HANDED_ON('error'),
  'openai_chat/malformed_native.sse': HANDED_ON('done'),
  'openai_chat/error_gemini.sse': NO_CHOICES,
  'openai_chat/error_vllm.sse': NO_CHOICES,
  'openai_chat/finish_null.sse': { why: 'the SDK takes no [DONE] in place of a reason', theirs: { error: /missing finish_reason/ } },
  'openai_chat/glued.sse': { why: 'one event, one JSON to the SDK', theirs: { error: /malformed/ } },
  'openai_chat/id_changes.sse': { why: 'the SDK keeps the last id of a call; ours the first, as it was announced', theirs: { calls: [{ id: 'call_y', name: 'get_weather', arguments: { city: 'Oslo' } }] } },
  'openai_chat/id_empty_later.sse': { why: 'the SDK wants an index at each choice', theirs: { error: /invalid choice index/ } },
  'openai_chat/id_missing.sse': { why: 'the SDK makes ids up; ours says that there are none', ids: false },
  'openai_chat/id_shared.sse': { why: 'the SDK leaves two calls under one id; ours gives the second its own', theirs: { calls: [{ id: 'call_a', name: 'get_weather', arguments: { city: 'Oslo' } }, { id: 'call_a', name: 'get_weather', arguments: { city: 'Rome' } }] } },
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
      const bytes = (READABLE[api] ?? String)(readFileSync(new URL(name, HOME)));
      const type = api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream';
      const theirs = await serving(bytes, { type }, (url) => party(api, url));
      const our = ours(await read(api === 'openai_chat' ? 'openai_compatible' : api, bytes));
      if (differs?.ids === false) return assert.deepEqual(nameless(our), nameless(theirs));
      if (differs?.one) return assert.equal(theirs.calls.length, 1);
      if (differs?.many) return assert.equal(theirs.calls.length, differs.many);
      if (differs) return holds(theirs, differs.theirs, 'the SDK');
      if (our.error) return assert.ok(theirs.error, `we say "${our.error}", the SDK ${JSON.stringify(theirs)}`);
      assert.deepEqual(our, theirs, 'the SDK reads it otherwise; if it is the SDK that is wrong, say so in DIFFERS');
    });
  }
}

// A model's server that nobody here wrote: what it is scripted to say arrives, in both steps of a loop with tools, through
// each API. Then its faults: nothing hangs, a cut is no end, and no call comes out of nothing.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BASES, send, startMock, talk } from './support/aimock.mjs';
import { read, request } from './support/codec.mjs';
import { ours } from './support/parties.mjs';
import { THREADS, results, tool, user } from './support/threads.mjs';

const VENDORS = Object.keys(BASES);

const CALLS = [
  { id: 'call_a', name: 'get_weather', arguments: { city: 'Oslo' } },
  { id: 'call_b', name: 'get_time', arguments: { zone: 'Europe/Oslo — 奥斯陆 "x"' } },
];
const TOKENS = { prompt_tokens: 80, completion_tokens: 31, input_tokens: 80, output_tokens: 31, promptTokenCount: 80, candidatesTokenCount: 31 };
const scripted = (list) => list.map((one) => ({ ...one, arguments: JSON.stringify(one.arguments) }));
const long = 'It is 4 °C in Oslo, 奥斯陆. '.repeat(20);
const smiling = `${'😀'.repeat(15)} `.repeat(3);

const FIXTURES = [
  { match: { userMessage: 'both', hasToolResult: false }, response: { content: 'Checking both.', reasoning: 'Two tools.', toolCalls: scripted(CALLS), usage: TOKENS } },
  { match: { userMessage: 'both', hasToolResult: true, toolResultContains: 'unknown zone' }, response: { content: 'It is 4 degrees; the time I can not tell.' } },
  { match: { userMessage: 'nothing', hasToolResult: false }, response: { toolCalls: [{ id: 'call_c', name: 'list_open', arguments: '{}' }] } },
  { match: { userMessage: 'nothing', hasToolResult: true }, response: { content: 'Nothing is open.' } },
  { match: { userMessage: 'limit' }, response: { content: 'It is', finishReason: 'length' } },
  { match: { userMessage: 'long' }, response: { content: long } },
  { match: { userMessage: 'smile' }, response: { content: smiling } },
  { match: { userMessage: 'cut words' }, response: { content: long }, truncateAfterChunks: 4, latency: 5 },
  { match: { userMessage: 'cut calls' }, response: { toolCalls: [{ id: 'call_d', name: 'get_weather', arguments: JSON.stringify({ city: 'Oslo'.repeat(60) }) }] }, truncateAfterChunks: 3, latency: 5 },
  { match: { userMessage: 'cut late' }, response: { content: long }, disconnectAfterMs: 120, latency: 20 },
  { match: { userMessage: 'quick' }, response: { content: 'It is 4 degrees.' } },
  { match: { userMessage: 'slow' }, response: { content: 'It is 4 degrees.' }, latency: 30 },
  { match: { userMessage: 'refused' }, response: { error: { message: 'The prompt is too long.', type: 'invalid_request_error', code: 'context_length_exceeded' }, status: 400 } },
  { match: { userMessage: 'too many' }, response: { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 7 } },
];

// Where the mock is not like the vendor.
const MOCK = {
  openai_responses: { limit: 'the mock says "completed" of an answer whose status is "incomplete", without a reason' },
  gemini: { finish: 'FUNCTION_CALL', why: 'Gemini says STOP', whole: 'calls come whole' },
  gemini_interactions: { reasoning: 'the mock streams no thoughts here', whole: 'the mock cuts no calls here', limit: 'the mock knows no such end here' },
  ollama: { ids: false, reasoning: 'the mock streams thoughts as reasoning_content, Ollama as thinking', tokens: false, limit: 'the mock knows no such end here', whole: 'calls come whole' },
};

let mock;
before(async () => (mock = await startMock(FIXTURES)));
after(() => mock.stop());

const ask = (vendor, words, more) => talk(mock, vendor, request([user(words)], more));
const without = (calls) => calls.map(({ id, ...call }) => call);

for (const vendor of VENDORS) {
  const differs = MOCK[vendor] ?? {};

  test(`${vendor}: two calls at once, a failure among the results, and the last words`, async () => {
    const asked = user('Tell me both.');
    const first = await talk(mock, vendor, request([asked]));
    assert.equal(first.status, 200);
    const said = ours(first.said);
    assert.equal(said.error, undefined);
    assert.equal(said.text, 'Checking both.');
    if (!differs.reasoning) assert.equal(said.reasoning, 'Two tools.');
    assert.deepEqual(differs.ids === false ? without(said.calls) : said.calls, differs.ids === false ? without(CALLS) : CALLS);
    assert.equal(said.finish, differs.finish ?? 'calls');
    if (differs.tokens !== false) assert.deepEqual([said.usage.input, said.usage.output], [80, 31]);

    const second = await talk(mock, vendor, request([asked, ...first.said.messages, ...results(first.said)]));
    assert.equal(second.status, 200, second.bytes.toString());
    assert.deepEqual([second.said.text, second.said.calls, second.said.finish, second.said.error], ['It is 4 degrees; the time I can not tell.', [], 'done', null]);
  });

  test(`${vendor}: a call without arguments`, async () => {
    const asked = user('What is nothing?');
    const first = await talk(mock, vendor, request([asked]));
    assert.deepEqual(without(ours(first.said).calls), [{ name: 'list_open', arguments: {} }]);
    const second = await talk(mock, vendor, request([asked, ...first.said.messages, ...results(first.said)]));
    assert.equal(second.said.text, 'Nothing is open.');
  });

  test(`${vendor}: the limit of tokens`, { skip: differs.limit }, async () => {
    const { said } = await ask(vendor, 'The limit.');
    assert.deepEqual([said.text, said.finish, said.error], ['It is', 'length', null]);
  });

  test(`${vendor}: a long answer, and a slow one`, async () => {
    assert.equal((await ask(vendor, 'A long one.')).said.text, long);
    assert.equal((await ask(vendor, 'A slow one.')).said.text, 'It is 4 degrees.');
  });

  test(`${vendor}: letters cut in two, as JavaScript servers cut them`, async () => {
    assert.equal((await ask(vendor, 'Now smile.')).said.text, smiling);
  });

  test(`${vendor}: it takes every thread we write`, async () => {
    for (const { name, input, files } of THREADS) {
      // The mock finds its fixture by the last words of the user.
      const answered = input.messages.at(-1).role === 'user' ? [{ id: 'x', role: 'assistant', content: 'Yes.' }] : [];
      const thread = { ...input, messages: [...input.messages, ...answered, user('A quick one.')] };
      const { status, said, error } = await talk(mock, vendor, thread).catch((error) => ({ error }));
      if (error && files) {
        assert.match(error.message, /take|fetch/, name);
        continue;
      }
      assert.equal(error, undefined, name);
      assert.equal(status, 200, name);
      assert.equal(said.text, 'It is 4 degrees.', name);
    }
  });

  // ---- faults ----

  for (const words of ['cut words', 'cut calls', 'cut late']) {
    test(`${vendor}: ${words}: no finish, no error made up, no call`, { skip: words === 'cut calls' && differs.whole }, async () => {
      const { said, bytes } = await ask(vendor, `Now ${words}.`);
      assert.ok(bytes.length, 'something came');
      assert.equal(said.finish, null);
      assert.deepEqual(said.calls, []);
      if (said.error) assert.match(said.error.message, /JSON/, 'an error must be one of the bytes');
      assert.ok(long.startsWith(said.text));
    });
  }

  test(`${vendor}: a request that is refused, and one too many`, async () => {
    const refused = await send(mock, vendor, request([user('It is refused.')]));
    assert.equal(refused.status, 400);
    // A body that no stream is: as where a proxy has lost the status.
    const said = await read(vendor, refused.bytes);
    assert.equal(said.finish, null);
    assert.deepEqual(said.calls, []);
    assert.match(said.error.message, /The prompt is too long\./);
    assert.equal(said.error.kind, 'bad_request');
    const late = await send(mock, vendor, request([user('There are too many.')]));
    assert.equal(late.status, 429);
    assert.equal(late.headers['retry-after'], '7');
    assert.match((await read(vendor, late.bytes)).error.message, /Slow down\./);
  });
}

const CHAOS = { drop: /500/, malformed: /malformed|200/, disconnect: /broke/, ratelimit: /429/ };

for (const vendor of VENDORS) {
  for (const mood of Object.keys(CHAOS)) {
    test(`${vendor}: in the mood "${mood}" there is a clear error or an unfinished answer`, async () => {
      const answer = await send(mock, vendor, request([user('Tell me both.')]), { [`x-aimock-chaos-${mood}`]: '1' });
      const said = await read(vendor, answer.bytes);
      const seen = `${answer.broke ? 'broke' : answer.status} ${answer.bytes.toString().slice(0, 200)} → ${JSON.stringify(said)}`;
      assert.match(seen.slice(0, 220), CHAOS[mood], seen);
      assert.equal(said.finish, null, seen);
      assert.deepEqual(said.calls, [], seen);
      assert.equal(said.text, '', seen);
      if (answer.bytes.length) assert.ok(said.error, seen);
    });
  }
  test(`${vendor}: a delay before the answer`, async () => {
    const { said } = await talk(mock, vendor, request([user('A slow one.')]), { 'x-aimock-chaos-latency': '300' });
    assert.deepEqual([said.text, said.finish], ['It is 4 degrees.', 'done']);
  });
}

// Every prefix of real answers of this server: what a cut line leaves.
for (const vendor of VENDORS) {
  test(`${vendor}: cut at every place, an answer is never done and never holds a call`, async () => {
    const input = request([user('Tell me both.')]);
    const { bytes } = await talk(mock, vendor, input);
    const whole = await read(vendor, bytes, input);
    const step = Math.max(1, Math.floor(bytes.length / 400));
    const mark = bytes.indexOf('[DONE]');
    for (let at = 0; at < bytes.length; at += step) {
      // Inside of the mark: below.
      if (mark >= 0 && at > mark) break;
      const said = await read(vendor, bytes.subarray(0, at), input);
      const where = `cut at ${at} of ${bytes.length}: ${JSON.stringify(said)}`;
      if (said.finish !== null) {
        // All that matters was there; the rest is a mark behind the end.
        assert.deepEqual({ ...said, usage: null, messages: null }, { ...whole, usage: null, messages: null }, where);
        continue;
      }
      assert.deepEqual(said.calls, [], where);
      assert.equal(said.error, null, where);
      assert.ok('Checking both.'.startsWith(said.text), where);
    }
  });
}

test('openai_chat: cut inside of the mark of the end, an answer is as whole as without it', async () => {
  const { bytes } = await ask('openai_chat', 'A quick one.');
  const said = await read('openai_chat', bytes.subarray(0, bytes.indexOf('[DONE]') + 3));
  assert.deepEqual([said.text, said.finish, said.error], ['It is 4 degrees.', 'done', null]);
});

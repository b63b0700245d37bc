// A real server with a real, very small model, spoken to in three APIs: llama.cpp has Chat Completions, Responses and
// Messages. Its model calls a tool only where the thread before shows it how, so that much is given; what it then says is
// its own. Runs where PAGEHAND_LLAMA names such a server, such as http://127.0.0.1:8080; PAGEHAND_PARTIES_RECORD=1 keeps the
// bytes it sends, for recorded.test.mjs.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { TOOLS, read, request, write } from './support/codec.mjs';
import { parsed } from './support/parties.mjs';
import { answer, call, tool, user } from './support/threads.mjs';

const SERVER = process.env.PAGEHAND_LLAMA;
const skip = !SERVER && 'PAGEHAND_LLAMA names no server';
const MODEL = 'smollm2-135m';

const shown = (city, degrees, id) => [user(`What is the weather in ${city}?`), answer('', call(id, 'get_weather', { city })), tool(id, `{"tempC":${degrees}}`), answer(`It is ${degrees} degrees in ${city}.`)];
const BEFORE = [...shown('Rome', 20, 'call_a'), ...shown('Paris', 12, 'call_b')];

const APIS = {
  llama_cpp: { url: `${SERVER}/v1`, parameters: { max_tokens: 60, temperature: 0 } },
  openai_responses: { url: `${SERVER}/v1`, parameters: { max_output_tokens: 60, temperature: 0 } },
  anthropic: { url: SERVER, parameters: { max_tokens: 60, temperature: 0 } },
};

async function ask(vendor, messages, more, record) {
  const { url, parameters } = APIS[vendor];
  const input = request(messages, { tools: TOOLS.slice(0, 1) });
  const post = await write(vendor, input, { url, model: MODEL, parameters: { ...parameters, ...more } });
  const send = () => fetch(post.url, { method: 'POST', headers: { 'content-type': 'application/json', ...post.headers }, body: JSON.stringify(post.body), signal: AbortSignal.timeout(120_000) });
  // Once more where the server has just let go of the connection.
  const response = await send().catch(send);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (record && process.env.PAGEHAND_PARTIES_RECORD) writeFileSync(new URL(`recorded/${vendor}/${record}`, import.meta.url), bytes);
  if (response.status !== 200) return { bytes, status: response.status };
  const said = await read(vendor, bytes, input, { url, model: MODEL });
  if (process.env.PAGEHAND_PARTIES_SAY) console.log(vendor, JSON.stringify({ ...said, messages: undefined }));
  return { said, bytes, status: 200 };
}

for (const vendor of Object.keys(APIS)) {
  test(`${vendor}: a call, its result, and words about it`, { skip }, async () => {
    const asked = [...BEFORE, user('What is the weather in Oslo?')];
    const { said } = await ask(vendor, asked, {}, 'call.sse');
    assert.equal(said.error, null);
    assert.equal(said.calls.length, 1);
    assert.equal(said.calls[0].name, 'get_weather');
    assert.deepEqual(JSON.parse(said.calls[0].arguments), { city: 'Oslo' });
    assert.equal(said.finish, 'calls');
    assert.ok(said.usage.input > 100 && said.usage.output > 5);
    const [{ id }] = said.messages.at(-1).toolCalls;
    const second = await ask(vendor, [...asked, ...said.messages, tool(id, '{"tempC":4}')], {}, 'words.sse');
    assert.equal(second.said.error, null);
    assert.match(second.said.text, /4/);
    assert.deepEqual(second.said.calls, []);
  });

  test(`${vendor}: a call that is cut by the limit, and a thread that is too long`, { skip }, async () => {
    const limit = vendor === 'openai_responses' ? { max_output_tokens: 20 } : { max_tokens: 20 };
    const { said } = await ask(vendor, [...BEFORE, user('What is the weather in Oslo?')], limit, 'limit.sse');
    // This server calls a Responses answer completed that the limit has cut; then the arguments tell.
    if (vendor !== 'openai_responses') assert.equal(said.finish, 'length');
    for (const one of said.calls) assert.notEqual(typeof parsed(one.arguments), 'object', 'half of the arguments are none');
    const { status, bytes } = await ask(vendor, [user('weather '.repeat(6000))], {}, 'too_long.json');
    assert.equal(status, 400);
    assert.match((await read(vendor, bytes)).error.message, /context/);
  });

  test(`${vendor}: cut at every place, a real answer is never done and never holds a call`, { skip }, async () => {
    const { said: whole, bytes } = await ask(vendor, [...BEFORE, user('What is the weather in Bergen?')]);
    const mark = bytes.indexOf('[DONE]');
    for (let at = 0; at < (mark < 0 ? bytes.length : mark); at += 7) {
      const said = await read(vendor, bytes.subarray(0, at), request([user('x')]));
      assert.equal(said.error, null, `cut at ${at}`);
      if (said.finish === null) assert.deepEqual(said.calls, [], `cut at ${at}`);
      else assert.deepEqual(said.calls, whole.calls, `cut at ${at}`);
    }
  });
}

// A model's server of our own, for what no public mock says: an OpenAI-compatible stream out of a function.

import { createServer } from 'node:http';
import { listen } from './journey.mjs';

/**
 * `answer(body, number)` returns `{ text?, calls?: [{ name, arguments }] }` for a request. The server keeps every
 * request's body in `asked`; `env` is what a gateway needs to use it.
 */
export async function startModel(answer) {
  const asked = [];
  const held = await listen(createServer(async (request, response) => {
    let text = '';
    for await (const data of request.setEncoding('utf8')) text += data;
    const body = JSON.parse(text);
    asked.push(body);
    if (request.url.startsWith('/refuses')) return response.writeHead(401).end();
    const { text: words = '', calls = [] } = await answer(body, asked.length);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta, finish = null) => response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    send({ role: 'assistant', content: '' });
    for (const piece of words.match(/[\s\S]{1,40}/g) ?? []) send({ content: piece });
    calls.forEach((call, index) => send({
      tool_calls: [{ index, id: `call_${asked.length}_${index}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) } }],
    }));
    send({}, calls.length ? 'tool_calls' : 'stop');
    response.end('data: [DONE]\n\n');
  }));
  return { ...held, asked, env: { PAGEHAND_MODEL_URL: `${held.url}/v1`, PAGEHAND_MODEL: 'scripted' } };
}

/** The last message of a request. */
export const last = (body) => body.messages.at(-1);

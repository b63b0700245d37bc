// Threads as pages send them, each a `RunAgentInput`.

import { TOOLS, request } from './codec.mjs';

const OURS = (more) => ({ pagehand: more });
let number = 0;
const id = () => `m${(number += 1)}`;

export const user = (content) => ({ id: id(), role: 'user', content });
export const system = (content) => ({ id: id(), role: 'system', content });
export const tool = (toolCallId, content, error) => ({ id: id(), role: 'tool', toolCallId, content, ...(error ? { error } : {}) });
export const call = (callId, name, args, local) => ({
  id: callId, type: 'function', function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  ...(local ? { metadata: OURS({ localId: true }) } : {}),
});
export const answer = (content, ...toolCalls) => ({ id: id(), role: 'assistant', ...(content ? { content } : {}), ...(toolCalls.length ? { toolCalls } : {}) });

const file = (type, mimeType, source, name) => ({ type, source: { ...source, mimeType }, ...(name ? { metadata: OURS({ name }) } : {}) });
const PIXEL = { type: 'data', value: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' };
const NOTE = { type: 'data', value: Buffer.from('Buy milk. 牛乳').toString('base64') };

const ASK = user('Weather and time in Oslo?');
const oslo = (callId, local) => call(callId, 'get_weather', { city: 'Oslo' }, local);
const time = (callId, local) => call(callId, 'get_time', { zone: 'Europe/Oslo' }, local);

const CLOSED = { type: 'object', properties: { city: { type: 'string' }, tempC: { type: 'number' } }, required: ['city', 'tempC'], additionalProperties: false };
const OPEN = { type: 'object', properties: { city: { type: 'string' } } };
const form = (schema, more = {}) => ({ forwardedProps: OURS({ output: { name: 'weather', schema } }), ...more });

const odd = { name: 'github__create.issue/now', description: 'Creates an issue.', parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } };

/** Threads by name. `files` says that a vendor may refuse it for a file it does not take. */
export const THREADS = [
  { name: 'one question', input: request([ASK]) },
  { name: 'no tools', input: request([ASK], { tools: [] }) },
  { name: 'instructions and facts', input: request([system('Be brief.'), ASK], { context: [{ description: 'The page', value: 'orders' }, { description: 'The user', value: 'Åse' }] }) },
  { name: 'a call and its result', input: request([ASK, answer('Checking.', oslo('call_a')), tool('call_a', '{"tempC":4}')]) },
  { name: 'a call without words', input: request([ASK, answer('', oslo('call_a')), tool('call_a', '{"tempC":4}')]) },
  { name: 'parallel calls, one failed', input: request([ASK, answer('Checking both.', oslo('call_a'), time('call_b')), tool('call_a', '{"tempC":4}'), tool('call_b', 'unknown zone', 'tool_error')]) },
  { name: 'results in another order', input: request([ASK, answer('', oslo('call_a'), time('call_b')), tool('call_b', '"12:00"'), tool('call_a', '4')]) },
  { name: 'a result that is missing', input: request([ASK, answer('', oslo('call_a'), time('call_b')), tool('call_a', '{"tempC":4}'), user('And?')]) },
  { name: 'calls without ids', input: request([ASK, answer('', oslo('local1', true), time('local2', true)), tool('local1', '{"tempC":4}'), tool('local2', '[1,2]')]) },
  { name: 'ids of other vendors', input: request([ASK, answer('', oslo('functions.get_weather:0'), time(`call_${'x'.repeat(70)}`)), tool('functions.get_weather:0', 'null'), tool(`call_${'x'.repeat(70)}`, '')]) },
  { name: 'arguments that are none', input: request([ASK, answer('', call('call_a', 'get_weather', ''), call('call_b', 'get_time', '{"zone":'), call('call_c', 'get_time', '[1]')), tool('call_a', 'no', 'invalid_arguments'), tool('call_b', 'no', 'invalid_arguments'), tool('call_c', 'no', 'invalid_arguments')]) },
  { name: 'a call that repeats', input: request([ASK, answer('', oslo('call_a')), tool('call_a', '1'), answer('', oslo('call_b')), tool('call_b', '2'), answer('Cold.'), user('Sure?')]) },
  { name: 'an id that comes again', input: request([ASK, answer('', oslo('call_a')), tool('call_a', '1'), user('Again'), answer('', oslo('call_a')), tool('call_a', '2')]) },
  { name: 'words on words', input: request([user('Hi.'), user('Are you there?'), answer('Yes.'), user('Good. 👩‍👩‍👧‍👦 \u2028 "quoted"')]) },
  { name: 'an answer first', input: request([answer('Hello!'), ASK]) },
  { name: 'tools that are gone', input: request([ASK, answer('', oslo('call_a')), tool('call_a', '{"tempC":4}'), user('Thanks.')], { tools: [] }) },
  { name: 'a name that few take', input: request([ASK, answer('', call('call_a', odd.name, { title: 'x' })), tool('call_a', '{"number":1}')], { tools: [...TOOLS, odd] }) },
  { name: 'an answer of a form, no tools', input: request([ASK], form(CLOSED, { tools: [] })) },
  { name: 'an answer of a form, with tools', input: request([ASK], form(CLOSED)) },
  { name: 'an answer of an open form', input: request([ASK], form(OPEN, { tools: [] })) },
  { name: 'a picture', files: true, input: request([user([{ type: 'text', text: 'What is this?' }, file('image', 'image/png', PIXEL, 'pixel.png')])]) },
  { name: 'a picture without words', files: true, input: request([user([file('image', 'image/png', PIXEL)])]) },
  { name: 'a picture at an address', files: true, input: request([user([{ type: 'text', text: 'What is this?' }, file('image', 'image/png', { type: 'url', value: 'https://example.com/pixel.png' })])]) },
  { name: 'a document', files: true, input: request([user([{ type: 'text', text: 'Read.' }, file('document', 'application/pdf', { type: 'data', value: 'JVBERi0xLjQK' }, 'a.pdf')])]) },
  { name: 'a document at an address', files: true, input: request([user([{ type: 'text', text: 'Read.' }, file('document', 'application/pdf', { type: 'url', value: 'https://example.com/a.pdf' }, 'a.pdf')])]) },
  { name: 'a recording', files: true, input: request([user([{ type: 'text', text: 'Listen.' }, file('audio', 'audio/wav', { type: 'data', value: 'UklGRg==' }, 'a.wav')])]) },
  { name: 'a text file', input: request([user([{ type: 'text', text: 'Read.' }, file('document', 'text/plain', NOTE, 'note.txt')])]) },
  { name: 'a result that is long', input: request([ASK, answer('', oslo('call_a')), tool('call_a', JSON.stringify({ text: 'x'.repeat(5000) }))]) },
];

/** What a page adds to an answer of our decoder before it asks again: a result for each call. */
export const results = (said) => said.messages.flatMap((message) => (message.toolCalls ?? []).map((one, at) => (at % 2 ? tool(one.id, 'unknown zone', 'tool_error') : tool(one.id, '{"tempC":4}'))));

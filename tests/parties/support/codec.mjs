// Our codecs, as `examples/codec.rs` puts them at the end of a pipe.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const PROGRAM = process.env.PAGEHAND_CODEC;
if (!PROGRAM) throw new Error('PAGEHAND_CODEC must name the built example: cargo build --example codec');

let child;
const waiting = [];

function start() {
  child = spawn(PROGRAM, { stdio: ['pipe', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line)));
  child.on('exit', (code) => waiting.splice(0).forEach(({ reject }) => reject(new Error(`the codec ended with ${code}`))));
  child.unref();
  child.stdin.unref?.();
  child.stdout.unref?.();
}

/** One command of `examples/codec.rs`; what it answers. A decoder that hangs is an error after 10 s. */
export function ask(command) {
  if (!child) start();
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the codec hangs at ${JSON.stringify(command).slice(0, 300)}`)), 10_000);
    const done = (settle) => (value) => (clearTimeout(late), settle(value));
    waiting.push({ resolve: done(resolve), reject: done(reject) });
    child.stdin.write(`${JSON.stringify(command)}\n`);
  });
}

/** The request our encoder makes: `{url, headers, body}` or `{error}`. */
export const write = (vendor, input, more = {}) => ask({ do: 'write', vendor, input, ...more });

/** What our decoder makes of these bytes. */
export async function read(vendor, bytes, input = request([]), more = {}) {
  const said = await ask({ do: 'read', vendor, input, bytes: Buffer.from(bytes).toString('base64'), ...more });
  if (!('calls' in said)) throw new Error(`the codec refuses the command: ${said.error}`);
  return said;
}

export const TOOLS = [
  {
    name: 'get_weather', description: 'Current weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'], additionalProperties: false },
  },
  {
    name: 'get_time', description: 'Local time of a zone.',
    parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  },
  { name: 'list_open', description: 'What is open. Takes nothing.', parameters: { type: 'object', properties: {} } },
];

/** A `RunAgentInput` with these messages. */
export function request(messages, more = {}) {
  return { threadId: 't', runId: 'r', state: {}, messages, tools: TOOLS, context: [], forwardedProps: {}, ...more };
}

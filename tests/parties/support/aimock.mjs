// @copilotkit/aimock as a process, and our codecs as its client.

import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { read, write } from './codec.mjs';

const PROGRAM = new URL('../node_modules/@copilotkit/aimock/dist/cli.js', import.meta.url).pathname;

/** The path under which it has each API, as a base of ours. */
export const BASES = { openai_chat: '/v1', openai_responses: '/v1', anthropic: '', gemini: '/v1beta', gemini_interactions: '/v1beta', ollama: '' };

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts it with these fixtures; resolves when it answers. */
export async function startMock(fixtures, ...flags) {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  const file = join(folder, 'fixtures.json');
  await writeFile(file, JSON.stringify({ fixtures }));
  const child = spawn(process.execPath, [PROGRAM, '-p', String(port), '-h', '127.0.0.1', '-f', file, '--log-level', 'silent', ...flags], { stdio: 'ignore' });
  const gone = new Promise((done) => child.once('exit', done));
  for (;;) {
    const up = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true))).on('error', () => resolve(false));
    });
    if (up) break;
    if (child.exitCode !== null) throw new Error(`aimock ended with ${child.exitCode}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  const url = `http://127.0.0.1:${port}`;
  return { url, stop: async () => (child.kill('SIGKILL'), await gone, await rm(folder, { recursive: true })) };
}

/** Sends what our encoder writes. `{status, headers, bytes, broke, body}`; `broke` where the line was cut. */
export async function send(mock, vendor, input, headers = {}) {
  const post = await write(vendor, input, { url: `${mock.url}${BASES[vendor]}` });
  if (post.error) throw new Error(post.error);
  return new Promise((resolve, reject) => {
    const chunks = [];
    let response;
    let broke = false;
    const end = () => resolve({ status: response?.statusCode ?? 0, headers: response?.headers ?? {}, bytes: Buffer.concat(chunks), broke, body: post.body });
    const cut = () => ((broke = true), end());
    // Not `fetch`, which lets go of what came before a cut.
    const sent = request(post.url, {
      method: 'POST', timeout: 20_000,
      headers: { 'content-type': 'application/json', authorization: 'Bearer k', 'x-api-key': 'k', 'x-goog-api-key': 'k', ...post.headers, ...headers },
    });
    sent.on('timeout', () => reject(new Error('no answer within 20 s')));
    sent.on('error', cut);
    sent.on('response', (answer) => {
      response = answer;
      answer.on('data', (chunk) => chunks.push(chunk)).on('end', end).on('error', cut);
    });
    sent.end(JSON.stringify(post.body));
  });
}

/** The same, and what our decoder makes of the answer. */
export async function talk(mock, vendor, input, headers) {
  const answer = await send(mock, vendor, input, headers);
  return { ...answer, said: await read(vendor, answer.bytes, input, { url: `${mock.url}${BASES[vendor]}` }) };
}

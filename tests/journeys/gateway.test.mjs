// The gateway from outside, as anybody may speak to it: no browser, only sockets.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { freePort, startGateway } from './support/gateway.mjs';
import { listen } from './support/journey.mjs';

const JSON_TYPE = { 'content-type': 'application/json' };
let gateway;

before(async () => (gateway = await startGateway({ env: { PAGEHAND_ORIGINS: 'https://app.example' } })));
after(() => gateway.kill());

const run = (text = 'hello', more = {}) => ({
  threadId: 't1', runId: 'r1', state: {}, messages: [{ id: 'm1', role: 'user', content: text }], tools: [], context: [], forwardedProps: {}, ...more,
});

const post = (path, body, headers = {}, base = gateway.url) =>
  fetch(base + path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });

// `fetch` does not let its user choose a Host.
function raw(path, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const sent = ask(gateway.url + path, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (data) => (text += data)).on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

// The status of an answer to a body of a gigabyte that was announced, and of which one byte was sent.
async function announced(path, headers) {
  const socket = connect(gateway.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n{`);
  const [data] = await once(socket, 'data', { signal: AbortSignal.timeout(5000) });
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+) /.exec(String(data))?.[1]);
}

for (const [what, headers, code] of [
  ['a foreign Host', { host: 'evil.example' }, 'unknown_host'],
  ['a Host that only begins like ours', { host: 'localhost.evil.example' }, 'unknown_host'],
  ['a foreign Origin', { origin: 'https://evil.example' }, 'unknown_origin'],
  ['an Origin that only begins like a listed one', { origin: 'https://app.example.evil.example' }, 'unknown_origin'],
  ['the Origin null', { origin: 'null' }, 'unknown_origin'],
  ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 'unknown_origin'],
  ['another site without an Origin', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 'unknown_origin'],
]) {
  test(`${what} is refused on every route`, async () => {
    for (const [path, method] of [['/', 'GET'], ['/tools', 'GET'], ['/api/orders', 'GET'], ['/healthz', 'GET'], ['/agent', 'POST'], ['/tools/order_status', 'POST']]) {
      const answer = await raw(path, { method, headers: { ...JSON_TYPE, ...headers }, body: method === 'POST' ? '{}' : undefined });
      assert.equal(answer.status, 403, `${method} ${path}`);
      assert.equal(JSON.parse(answer.text).error.code, code);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  });
}

test('who may not ask is told before the body is read', async () => {
  for (const header of ['Host: evil.example', `Host: 127.0.0.1:${gateway.port}\r\nOrigin: https://evil.example`]) {
    assert.equal(await announced('/agent', header), 403);
  }
});

test('a listed Origin is let in, by name and without credentials', async () => {
  const answer = await raw('/tools', { headers: { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['access-control-allow-origin'], 'https://app.example');
  assert.equal(answer.headers['access-control-allow-credentials'], undefined);
  const preflight = await raw('/tools/order_status', {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type,idempotency-key' },
  });
  assert.ok(preflight.status < 300);
  assert.equal(preflight.headers['access-control-allow-origin'], 'https://app.example');
});

test('a POST that is not JSON is 415, a body over 8 MiB 413, one that is no JSON 400', async () => {
  assert.equal((await post('/agent', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' })).status, 415);
  assert.equal((await post('/agent', '{}', { 'content-type': 'text/plain' })).status, 415);
  const own = `Host: 127.0.0.1:${gateway.port}`;
  assert.equal(await announced('/agent', own), 413);
  assert.equal(await announced('/tools/order_status', `${own}\r\nIdempotency-Key: k`), 413);
  const broken = await post('/agent', '{"threadId":');
  assert.equal(broken.status, 400);
  assert.equal((await broken.json()).error.code, 'bad_request');
});

test('a body over the limit in pieces of unknown number is cut off, too', async () => {
  let sent = 0;
  const piece = new Uint8Array(1024 * 1024).fill(0x20);
  const body = new ReadableStream({ pull(stream) { (sent += 1) > 200 ? stream.close() : stream.enqueue(piece); } });
  const status = await fetch(`${gateway.url}/agent`, { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' }).then((answer) => answer.status, () => 'cut');
  assert.ok(status === 413 || status === 'cut', String(status));
  // What the two sides' buffers hold is sent on top of the limit.
  assert.ok(sent < 120, `${sent} MiB were taken`);
});

test('only what this gateway lists is run here: a tool of the page and an unknown one are refused', async () => {
  for (const name of ['navigate', 'clipboard_read', 'teleport', '../api/orders', 'order_status%00', '%2e%2e']) {
    const answer = await post(`/tools/${encodeURIComponent(name)}`, { arguments: {}, scope: 'server' }, { 'idempotency-key': 'k1' });
    assert.equal(answer.status, 403, name);
    const { error } = await answer.json();
    assert.equal(error.code, 'refused');
    assert.match(error.message, /runs only the tools it lists/);
  }
});

test('arguments that do not fit are 422, with words for a model', async () => {
  const call = (body) => post('/tools/order_status', body, { 'idempotency-key': 'k2' });
  for (const [body, words] of [
    [{ arguments: {} }, /order_id/],
    [{ arguments: { order_id: 7 } }, /order_id/],
    [{ arguments: { order_id: 'A-1042', extra: 1 } }, /extra/],
    [{ arguments: [] }, /arguments/],
    [{}, /arguments/],
  ]) {
    const answer = await call(body);
    assert.equal(answer.status, 422, JSON.stringify(body));
    const { error } = await answer.json();
    assert.match(error.message, words);
    assert.match(error.message, /order_status/);
  }
});

test('a call without an idempotency key is 400; the same key twice changes something once', async () => {
  const before = await (await fetch(`${gateway.url}/api/orders/A-1043`)).json();
  const note = { arguments: { order_id: 'A-1043', text: 'said once' } };
  const without = await post('/tools/order_note_add', note);
  assert.equal(without.status, 400);
  assert.equal((await without.json()).error.code, 'no_idempotency_key');
  assert.equal((await post('/tools/order_note_add', note, { 'idempotency-key': 'x'.repeat(256) })).status, 400);
  const [one, two] = await Promise.all([1, 2].map(() => post('/tools/order_note_add', note, { 'idempotency-key': 'same' }).then((answer) => answer.json())));
  assert.deepEqual(one, two);
  const after = await (await fetch(`${gateway.url}/api/orders/A-1043`)).json();
  assert.equal(after.notes.length, before.notes.length + 1);
});

test('a request for the model that can not be read is 422 and says where', async () => {
  for (const [body, path] of [
    [{ runId: 'r' }, /threadId/],
    [run('x', { messages: [{ id: 'm', role: 'user', content: 7 }] }), /\/messages\/0\/content/],
    [run('x', { messages: [{ id: 'm', role: 'user', content: 'x' }, { id: 'n', role: 'tool', content: 'x' }] }), /\/messages\/1/],
    [run('x', { tools: [{ description: 'no name' }] }), /\/tools\/0/],
    [run('x', { messages: 'none' }), /messages/],
  ]) {
    const answer = await post('/agent', body);
    const { error } = await answer.json();
    assert.equal(answer.status, 422, `${JSON.stringify(body)}: ${JSON.stringify(error)}`);
    assert.match(error.message, path);
  }
});

test('one run is one step: an AG-UI stream with a beginning and an end', async () => {
  const answer = await post('/agent', run('where is order A-1042?', {
    tools: [{ name: 'order_status', description: 'x'.repeat(40), parameters: { type: 'object' } }],
  }));
  assert.equal(answer.headers.get('content-type'), 'text/event-stream');
  const events = read(await answer.text());
  assert.equal(events[0].type, 'RUN_STARTED');
  assert.equal(events.at(-1).type, 'RUN_FINISHED');
  assert.ok(events.some((event) => event.type === 'TOOL_CALL_START' && event.toolCallName === 'order_status'));
  assert.ok(!events.some((event) => event.type === 'TOOL_CALL_RESULT'), 'the client runs its tools itself');
});

test('the list of tools has every definition with its hash', async () => {
  const { agent, tools } = await (await fetch(`${gateway.url}/tools`)).json();
  assert.match(agent.label, /not a language model/);
  assert.deepEqual(tools.map((tool) => tool.name).sort(), ['kb_search', 'order_note_add', 'order_refund', 'order_search', 'order_status', 'orders_export']);
  for (const tool of tools) {
    assert.match(tool.hash, /^[0-9a-f]{16,}$/, tool.name);
    assert.equal(tool.scope, 'server');
    assert.equal(tool.parameters.type, 'object');
  }
  assert.equal(new Set(tools.map((tool) => tool.hash)).size, tools.length);
});

test('every page has the policy that keeps it safe; a missing file is missing', async () => {
  for (const path of ['/', '/orders/A-1042', '/www/page-hand.js', '/www/missing.js']) {
    const answer = await fetch(gateway.url + path);
    const policy = answer.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/, path);
    assert.match(policy, /require-trusted-types-for 'script'/, path);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*/, path);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(answer.status, path === '/www/missing.js' ? 404 : 200, path);
  }
  assert.equal((await fetch(`${gateway.url}/api/nothing`)).status, 404);
  assert.equal((await fetch(`${gateway.url}/www/..%2f..%2f..%2fetc/passwd`)).status, 404);
  assert.equal((await fetch(`${gateway.url}/healthz`).then((answer) => answer.text())), 'ok');
  assert.match((await fetch(`${gateway.url}/www/pkg/pagehand_bg.wasm`)).headers.get('content-type'), /application\/wasm/);
});

test('what can not be started says why, and which variable or argument is at fault', async () => {
  await assert.rejects(startGateway({ env: { PAGEHAND_MODEL_URL: 'http://127.0.0.1:1/v1' } }), /PAGEHAND_MODEL \(the model's name there\)/);
  await assert.rejects(startGateway({ port: gateway.port }), /can not listen on 127\.0\.0\.1:\d+.*--port/);
});

// ---------------------------------------------------------------- a model's server that misbehaves

const KEY = 'canary-5f1e9c0d7b3a';
const LETTERS = ['data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Half an"}}]}\n\n'];

const ANSWERS = {
  'a 401 that quotes the key': (response) => response.writeHead(401, JSON_TYPE).end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}.`, code: 'invalid_api_key' } })),
  'a 403 that quotes a part of it': (response) => response.writeHead(403, JSON_TYPE).end(JSON.stringify({ error: { message: `No: ${KEY.slice(0, 12)}*****` } })),
  'a 429': (response) => response.writeHead(429, { ...JSON_TYPE, 'retry-after': '7' }).end(JSON.stringify({ error: { message: 'Slow down' } })),
  'a 500 with the key in a web page': (response) => response.writeHead(500, { 'content-type': 'text/html' }).end(`<h1>Error</h1>Authorization: Bearer ${KEY}`),
  'a 400 that quotes the request': (response) => response.writeHead(400, JSON_TYPE).end(JSON.stringify({ error: { message: `Bad request. Headers: Bearer ${KEY}` } })),
  'a 200 with an error in the stream': (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify({ error: { message: `overloaded (${KEY})`, code: 503 } })}\n\n`),
  'a 200 with an error as its body': (response) => response.writeHead(200, JSON_TYPE).end(JSON.stringify({ error: { message: `no such model for ${KEY}` } })),
  garbage: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`\u0000\u0001{]${KEY}\ndata: {"choices":[{"delta":\n\ndata: nonsense ${KEY}\n\n`),
  'a redirect': (response) => response.writeHead(302, { location: `http://127.0.0.1:1/?key=${KEY}` }).end(),
  'a line cut in mid-stream': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(LETTERS[0], () => response.socket.destroy());
  },
  'a line cut before an answer': (response) => response.socket.destroy(),
};

for (const [what, answer] of Object.entries(ANSWERS)) {
  test(`the model's server answers with ${what}: the page is told in words, and the key is nowhere`, async () => {
    let authorized;
    const upstream = await listen(createServer((request, response) => {
      authorized = request.headers.authorization;
      request.resume().on('end', () => answer(response));
    }));
    const front = await startGateway({ env: { PAGEHAND_MODEL_URL: `${upstream.url}/v1`, PAGEHAND_MODEL: 'model-x', PAGEHAND_MODEL_KEY: KEY, RUST_LOG: 'trace' } });
    try {
      const response = await post('/agent', run(), {}, front.url);
      const text = await response.text();
      assert.equal(response.status, 200);
      assert.equal(authorized, `Bearer ${KEY}`);
      const events = read(text);
      assert.equal(events[0]?.type, 'RUN_STARTED', text);
      const last = events.at(-1);
      const cut = what === 'a line cut in mid-stream' || what === 'garbage';
      if (!cut) {
        assert.equal(last.type, 'RUN_ERROR', text);
        assert.match(last.message, /\w{4}/, 'it has words');
      } else {
        assert.notEqual(last.type, 'RUN_FINISHED', 'what was cut short does not look whole');
      }
      if (what === 'a 429') assert.match(JSON.stringify(last), /"retryAfterMs":7000/);
      const tools = await (await fetch(`${front.url}/tools`)).text();
      for (const part of [KEY, KEY.slice(0, 12)]) {
        assert.ok(!text.includes(part) && !tools.includes(part), 'not in an answer');
        assert.ok(!front.output.includes(part), 'not in the log');
      }
    } finally {
      await front.kill();
      await upstream.stop();
    }
  });
}

test('a page that goes away takes its request to the model with it', async () => {
  const connected = withResolvers();
  const closed = withResolvers();
  const upstream = await listen(createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(LETTERS[0]), 20);
    response.on('close', () => (clearInterval(timer), closed.resolve()));
    connected.resolve();
  }));
  const front = await startGateway({ env: { PAGEHAND_MODEL_URL: upstream.url, PAGEHAND_MODEL: 'm' } });
  try {
    const abort = new AbortController();
    const response = await fetch(`${front.url}/agent`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(run()), signal: abort.signal });
    await response.body.getReader().read();
    await connected.promise;
    abort.abort();
    await Promise.race([closed.promise, new Promise((_, reject) => setTimeout(() => reject(new Error('the request to the model is still open')), 5000).unref())]);
  } finally {
    await front.kill();
    await upstream.stop();
  }
});

test('a model\'s server that is not there is said so, without its address', async () => {
  const port = await freePort();
  const front = await startGateway({ env: { PAGEHAND_MODEL_URL: `http://user:${KEY}@127.0.0.1:${port}/v1`, PAGEHAND_MODEL: 'm' } });
  try {
    const text = await (await post('/agent', run(), {}, front.url)).text();
    assert.match(text, /can not reach the model's server/);
    assert.ok(!text.includes(KEY) && !text.includes(String(port)));
    assert.ok(!front.output.includes(KEY), 'not in the log');
  } finally {
    await front.kill();
  }
});

function read(text) {
  return text.split('\n\n').flatMap((frame) => {
    const data = frame.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim()).join('\n');
    return data ? [JSON.parse(data)] : [];
  });
}

function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

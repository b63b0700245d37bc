// The gateway is killed and started again while a tool is at work: what takes effect does so once, or is said to be
// unknown.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './support/gateway.mjs';
import { journey, listen } from './support/journey.mjs';
import { last, startModel } from './support/model.mjs';
import { isValid, resultOf } from './support/thread.mjs';

// The browser's own words for what happens to its connections here.
const CONNECTION = /net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)|status of 409/;

const bare = { gateway: false };

// A gateway whose record and shop are files, killed and started again as often as one likes.
async function startKept(hold, { args = [], env = {} } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  hold({ stop: () => rm(folder, { recursive: true }) });
  const files = ['--calls', join(folder, 'calls.db'), '--data', join(folder, 'shop.db'), ...args];
  const kept = {
    folder,
    async start() {
      kept.now = await startGateway({ port: kept.port, args: files, env });
      kept.port = kept.now.port;
      kept.url = kept.now.url;
    },
    kill: () => kept.now.kill(),
    stop: () => kept.now?.kill(),
  };
  return hold(kept);
}

// Whatever it is, written down by a backend that has no memory of keys.
async function startBackend(hold, remembers) {
  const effects = [];
  const keys = [];
  const held = [];
  const known = new Map();
  const backend = hold(await listen(createServer((request, response) => {
    const key = request.headers['idempotency-key'];
    keys.push(key);
    if (!(remembers && known.has(key))) effects.push(key);
    known.set(key, true);
    const answer = () => response.setHeader('content-type', 'application/json').end('{"sent":true}');
    if (keys.length > 1) return answer();
    held.push(response);
    backend.arrived();
  })));
  return Object.assign(backend, { effects, keys, reached: new Promise((done) => (backend.arrived = done)) });
}

const tool = (port, replay) => `
allowHosts = ["127.0.0.1:${port}"]

[[tool]]
name = "gift_send"
owner = "tests"
description = "Sends a gift to the customer who is on the screen. Use it when the user asks for a gift."
risk = "irreversible"
replay = "${replay}"

[tool.parameters]
type = "object"
additionalProperties = false

[tool.http]
method = "POST"
url = "http://127.0.0.1:${port}/gifts"
`;

async function gift({ page, hand, hold }, replay, remembers) {
  hand.expects(CONNECTION);
  const backend = await startBackend(hold, remembers);
  const model = hold(await startModel((body) => (last(body).role === 'user' ? { calls: [{ name: 'gift_send' }] } : { text: `It came to this: ${last(body).content}` })));
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  hold({ stop: () => rm(folder, { recursive: true }) });
  await writeFile(join(folder, 'tools.toml'), tool(backend.port, replay));
  const gateway = await startKept(hold, { args: ['--tools', join(folder, 'tools.toml')], env: model.env });
  await gateway.start();
  await page.goto(gateway.url);
  await hand.open();
  const since = await hand.say('send a gift');
  await hand.approval.waitFor();
  await hand.button('Approve').click();
  await backend.reached;
  await gateway.kill();
  await hand.card('gift_send').getByText('Trying again in', { exact: false }).waitFor();
  await gateway.start();
  assert.equal(await hand.ended(since), 'completed');
  hand.asked.forEach(isValid);
  return backend;
}

journey('killed while a tool that must not run twice is at work: it is not run again, and the model is told that its outcome is unknown', bare, async (here) => {
  const { hand } = here;
  const backend = await gift(here, 'effect', false);
  assert.equal(backend.effects.length, 1);
  assert.equal(backend.keys.length, 1, 'nothing was sent a second time');
  await hand.shows('gift_send', 'failed');
  const told = resultOf(hand.asked.at(-1), 'gift_send');
  assert.equal(told.code, 'unknown_outcome', JSON.stringify(told));
  assert.match(told.message, /Whether it took effect is unknown/);
});

journey('killed while a tool is at work whose backend knows the key: it is run again under it, and takes effect once', bare, async (here) => {
  const { hand } = here;
  const backend = await gift(here, 'idempotent', true);
  assert.equal(backend.effects.length, 1);
  assert.equal(backend.keys.length, 2);
  assert.equal(backend.keys[0], backend.keys[1]);
  await hand.shows('gift_send', 'result-available');
  assert.deepEqual(resultOf(hand.asked.at(-1), 'gift_send'), { sent: true });
});

// The refund is in the shop's file and its answer in the record's; the page never heard of it.
journey('killed after a refund, before its answer came: the same key gets the answer, and the refund is there once', bare, async ({ page, hand, hold }) => {
  hand.expects(CONNECTION);
  const gateway = await startKept(hold);
  await gateway.start();
  const keys = [];
  await page.route('**/tools/order_refund', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    await gateway.kill();
    await route.abort('connectionreset');
    await gateway.start();
  });
  await page.goto(gateway.url);
  await hand.open();
  const since = await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  await hand.button('Approve').click();
  assert.equal(await hand.ended(since), 'completed');
  await hand.shows('order_refund', 'result-available');
  assert.ok(keys.length >= 2);
  assert.equal(new Set(keys).size, 1);
  assert.equal(resultOf(hand.asked.at(-1), 'order_refund').status, 'refunded');
  const order = await hand.get('/api/orders/A-1042');
  assert.equal(order.status, 'refunded');
  assert.equal(order.history.filter(({ text }) => text.startsWith('Refunded')).length, 1);
  hand.asked.forEach(isValid);
});

/** A refund is approved while the gateway is away. */
async function refundWhileAway({ page, hand, hold }) {
  hand.expects(CONNECTION);
  const gateway = await startKept(hold);
  await gateway.start();
  await page.goto(gateway.url);
  await hand.open();
  const since = await hand.say('refund order A-1042 because it arrived damaged');
  await hand.approval.waitFor();
  await gateway.kill();
  await hand.button('Approve').click();
  return { gateway, since };
}

journey('away when a tool is called: the card says when it is tried again, and once the gateway is back it runs once', bare, async ({ page, hand, hold }) => {
  const { gateway, since } = await refundWhileAway({ page, hand, hold });
  await hand.card('order_refund').getByText('The gateway can not be reached', { exact: false }).waitFor();
  assert.match(await hand.card('order_refund').innerText(), /Trying again in \d+ s\./);
  await gateway.start();
  assert.equal(await hand.ended(since), 'completed');
  await hand.shows('order_refund', 'result-available');
  const order = await hand.get('/api/orders/A-1042');
  assert.equal(order.history.filter(({ text }) => text.startsWith('Refunded')).length, 1);
});

journey('stopped while the gateway is away: nothing is tried any more', bare, async ({ page, hand, hold }) => {
  const { gateway, since } = await refundWhileAway({ page, hand, hold });
  await hand.card('order_refund').getByText('Trying again in', { exact: false }).waitFor();
  await hand.button('Stop').click();
  assert.equal(await hand.ended(since), 'stopped');
  await gateway.start();
  const calls = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/tools/order_refund')) calls.push(request.method());
  });
  await new Promise((done) => setTimeout(done, 2500));
  assert.deepEqual(calls, []);
  assert.equal((await hand.get('/api/orders/A-1042')).status, 'shipped');
});

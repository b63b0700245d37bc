// Models of several vendors behind one gateway, and a model that the page asks by itself. @copilotkit/aimock answers as
// each of them does.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startGateway } from './support/gateway.mjs';
import { journey, listen } from './support/journey.mjs';
import { startMock } from './support/mock.mjs';
import { isValid } from './support/thread.mjs';

const ANSWER = 'The order left with **DHL**; its screen is open.';
const calls = [
  { name: 'order_status', arguments: JSON.stringify({ order_id: 'A-1042' }) },
  { name: 'navigate', arguments: JSON.stringify({ url: '/orders/A-1042' }) },
];
const FIXTURES = {
  fixtures: [
    { match: { userMessage: 'A-1042', hasToolResult: false }, response: { content: 'I look.', toolCalls: calls } },
    { match: { userMessage: 'A-1042', hasToolResult: true }, response: { content: ANSWER } },
    { match: { userMessage: 'hello' }, response: { content: 'Hello. What can I do?' } },
    { match: { userMessage: 'count' }, response: { toolCalls: [{ name: 'page_count', arguments: '{}' }] } },
  ],
};

const MODELS = [
  { name: 'chat', provider: 'openai_chat', path: '/v1' },
  { name: 'responses', provider: 'openai_responses', path: '/v1' },
  { name: 'claude', provider: 'anthropic', path: '' },
  { name: 'gem', provider: 'gemini', path: '/v1beta' },
  { name: 'home', provider: 'ollama', path: '' },
];

// Every vendor's model behind one gateway; `more` is put behind the others in its file.
async function several(hold, more = '') {
  const port = await freePort();
  hold(await startMock(port, FIXTURES));
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  hold({ stop: () => rm(folder, { recursive: true }) });
  const tables = MODELS.map(({ name, provider, path }) =>
    `[[model]]\nname = "${name}"\nlabel = "The ${name} model"\nprovider = "${provider}"\nmodel = "gpt-4o"\nurl = "http://127.0.0.1:${port}${path}"\nkey_env = "MOCK_KEY"\n`);
  const file = join(folder, 'models.toml');
  await writeFile(file, tables.join('\n') + more);
  const gateway = await startGateway({ env: { MOCK_KEY: 'sk-mock' }, args: ['--models', file] });
  hold({ stop: gateway.kill });
  return { gateway, port };
}

journey('one thread, a model of another vendor for each question: calls of both scopes, their results, and all that was said before', { gateway: false }, async ({ page, hand, hold }) => {
  const { gateway } = await several(hold);
  await page.goto(gateway.url);
  await hand.open();
  const picker = page.getByRole('combobox', { name: 'Model' });
  await picker.waitFor();
  for (const { name } of MODELS) {
    await picker.selectOption(name);
    assert.equal(await hand.ask('where is order A-1042?'), 'completed', name);
    assert.match(await hand.words(), /The order left with DHL; its screen is open\.\s*$/, name);
    await hand.shows('order_status', 'result-available');
    const told = hand.asked.at(-1);
    assert.equal(told.forwardedProps.pagehand.model, name);
    assert.equal(told.messages.filter((message) => message.role === 'tool').length, 2 * (MODELS.findIndex((model) => model.name === name) + 1));
  }
  assert.equal(hand.asked.length, 2 * MODELS.length);
  hand.asked.forEach(isValid);
  // The thread is whole after a reload, whoever wrote it.
  await page.reload();
  await page.locator('page-hand .md', { hasText: 'The order left' }).nth(4).waitFor();
});

journey('a model that can not be reached: another answers in its place, and none does for a name nobody knows', { gateway: false }, async ({ page, hand, hold }) => {
  const { gateway } = await several(hold, `\n[[model]]\nname = "dead"\nmodel = "m"\nurl = "http://127.0.0.1:1"\nfallback = ["claude"]\n`);
  await page.goto(gateway.url);
  await hand.open();
  await page.getByRole('combobox', { name: 'Model' }).selectOption('dead');
  assert.equal(await hand.ask('hello'), 'completed');
  assert.match(await hand.words(), /Hello\. What can I do\?/);
  assert.match(gateway.output, /another model is asked/);
  assert.doesNotMatch(gateway.output, /sk-mock/);
  await page.evaluate(() => document.querySelector('page-hand').useModel('nobody'));
  assert.equal(await hand.ask('hello'), 'error');
  await hand.banner('There is no model named "nobody"').waitFor();
});

journey('files go with a message: chosen, pasted, named in the thread, and in it after a reload', { gateway: false }, async ({ page, hand, hold }) => {
  const { gateway } = await several(hold);
  await page.goto(gateway.url);
  await hand.open();
  await page.locator('page-hand input[type=file]').setInputFiles({ name: 'parcel.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgo=', 'base64') });
  const waiting = page.getByRole('list', { name: 'Files that go with the message' });
  await waiting.getByText('parcel.png, 8 bytes').waitFor();
  await hand.composer.evaluate((area) => {
    const data = new DataTransfer();
    data.items.add(new File(['a,b'], 'list.csv', { type: 'text/csv' }));
    area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await waiting.getByText('list.csv').waitFor();
  assert.equal(await hand.ask('hello'), 'completed');
  const [, image, list] = hand.asked[0].messages[0].content;
  assert.deepEqual([image.type, image.source.value], ['image', 'iVBORw0KGgo=']);
  assert.equal(Buffer.from(list.source.value, 'base64').toString(), 'a,b');
  await page.reload();
  await page.getByRole('list', { name: 'Files', exact: true }).getByText('parcel.png, 8 bytes').waitFor();
});

journey('a page asks for an answer of a given form, and has its value', {}, async ({ page, hand }) => {
  await hand.open();
  const ask = (prompt) => page.evaluate((prompt) => document.querySelector('page-hand').ask(prompt).catch((error) => error.code), prompt);
  const schema = { type: 'object', required: ['answer', 'count'], properties: { answer: { type: 'string' }, count: { type: 'integer' } } };
  const value = await ask({ text: 'where is order A-1042?', output: { schema } });
  assert.match(value.answer, /JD014600003RE1042/);
  assert.equal(value.count, 1042);
  assert.equal(await ask({ text: 'hello', output: { schema: { type: 'dict' } } }), 'invalid_prompt');
  // One that no words can have: told once, and then given up.
  const impossible = { type: 'object', required: ['n'], properties: { n: { type: 'integer', minimum: 5, maximum: 4 } } };
  assert.equal(await ask({ text: 'hello', output: { schema: impossible } }), 'no_output');
  assert.equal(hand.events.findLast((event) => event.type === 'run-end').detail.reason, 'output-mismatch');
});

journey('page-hand-direct.js: without a gateway the page asks a model on this machine, runs its tools, and goes on after a reload', { gateway: false }, async ({ page, hand, hold }) => {
  const port = await freePort();
  hold(await startMock(port, FIXTURES));
  const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mine</title>
    <script type="module" src="/www/page-hand-direct.js"></script>
    <page-hand gateway="none" provider="ollama" model="qwen3" model-url="http://127.0.0.1:${port}" placement="inline"></page-hand></html>`;
  const site = hold(await listen(createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    if (pathname === '/') {
      const csp = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self' http://127.0.0.1:${port}; require-trusted-types-for 'script'`;
      return response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': csp }).end(html);
    }
    try {
      const body = await readFile(process.env.PAGEHAND_SITE + pathname);
      response.writeHead(200, { 'content-type': TYPES[pathname.split('.').at(-1)] ?? 'text/plain' }).end(body);
    } catch {
      response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
    }
  })));
  await page.goto(site.url);
  await hand.composer.waitFor();
  await page.getByText('qwen3, asked by this page').waitFor();
  await page.evaluate(() => document.querySelector('page-hand').registerTool({
    name: 'page_count', description: 'Counts the paragraphs of this page. Use it when the user asks how many there are. Returns a number.', owner: 'mine', risk: 'read',
    parameters: { type: 'object', properties: {} }, run: () => 3,
  }));
  assert.equal(await hand.ask('hello'), 'completed');
  assert.match(await hand.words(), /Hello\. What can I do\?/);
  const since = await hand.say('count');
  await hand.shows('page_count', 'result-available');
  await page.evaluate(() => document.querySelector('page-hand').stop());
  await hand.ended(since);
  assert.equal(hand.asked.length, 0, 'no gateway was asked');
  await page.reload();
  await page.locator('page-hand .md', { hasText: 'What can I do?' }).first().waitFor();
  assert.equal(await hand.ask('hello'), 'completed');
  // The build without codecs says so.
  const code = await page.evaluate(async () => {
    const { PageHand } = await import('/www/page-hand.js');
    const plain = document.createElement('plain-hand');
    customElements.define('plain-hand', class extends PageHand {});
    customElements.upgrade(plain);
    document.body.append(Object.assign(document.createElement('plain-hand'), { id: 'plain' }));
    const element = document.getElementById('plain');
    element.setAttribute('gateway', 'none');
    await element.open();
    return element.useModel({ provider: 'ollama', model: 'x' }).catch((error) => error.code);
  });
  assert.equal(code, 'not_direct');
});

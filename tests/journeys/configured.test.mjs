// An integrator's page and backend: one tool of the page, one operation of an OpenAPI document, by configuration alone.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';
import { startMock } from './support/mock.mjs';
import { isValid } from './support/thread.mjs';

const TOKEN = 'canary-8f2e61';
const FIXTURES = {
  fixtures: [
    {
      match: { userMessage: 'stock', hasToolResult: false },
      response: { toolCalls: [
        { name: 'get_article', arguments: JSON.stringify({ sku: 'B-7/x', warehouse: 'north' }) },
        { name: 'basket_count', arguments: '{}' },
      ] },
    },
    { match: { userMessage: 'stock', hasToolResult: true }, response: { content: 'There are 12 in stock and 2 in your basket.' } },
  ],
};
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Warehouse', version: '4' },
  servers: [{ url: 'https://warehouse.example/api' }],
  paths: {
    '/articles/{sku}': {
      get: {
        operationId: 'getArticle',
        summary: 'Says how many pieces of an article are in stock.',
        description: 'Use it for every question about availability.',
        parameters: [
          { name: 'sku', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'warehouse', in: 'query', schema: { $ref: '#/components/schemas/Warehouse' } },
        ],
        responses: { 200: { description: 'The article.' } },
      },
      delete: { operationId: 'deleteArticle', summary: 'Takes an article out.', responses: {} },
    },
  },
  components: { schemas: { Warehouse: { type: 'string', enum: ['north', 'south'], nullable: true } } },
};

async function startBackend() {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url, headers: request.headers });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ sku: 'B-7/x', pieces: 12, seen: request.headers.authorization }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { asked, port: server.address().port, stop: () => new Promise((done) => server.close(done)) };
}

const config = (port, more = '') => `
allowHosts = ["127.0.0.1:${port}"]

[[openapi]]
document = "warehouse.json"
baseUrl = "http://127.0.0.1:${port}/api"
owner = "warehouse"
headers = { authorization = "Bearer {env.STOCK_TOKEN}", x-user = "{user.id}" }
allow = ["getArticle"]
${more}`;

async function open({ page, hand, hold }) {
  const backend = hold(await startBackend());
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  hold({ stop: () => rm(folder, { recursive: true }) });
  await writeFile(join(folder, 'warehouse.json'), JSON.stringify(DOCUMENT));
  await writeFile(join(folder, 'warehouse.toml'), config(backend.port));
  const port = await freePort();
  hold(await startMock(port, FIXTURES));
  const gateway = hold(await startGateway({
    args: ['--tools', folder],
    env: {
      PAGEHAND_MODEL_URL: `http://127.0.0.1:${port}/v1`, PAGEHAND_MODEL: 'gpt-4o', STOCK_TOKEN: TOKEN,
      PAGEHAND_USER_HEADER: 'x-signed-in',
    },
  }));
  // What a proxy in front of the gateway does once somebody has signed in.
  await page.setExtraHTTPHeaders({ 'x-signed-in': 'ann' });
  await page.goto(gateway.url);
  await hand.open();
  await page.evaluate(() => document.querySelector('page-hand').registerTool({
    name: 'basket_count', owner: 'shop', risk: 'read',
    description: 'Counts the articles in the basket of the page the user looks at.',
    run: () => ({ count: 2 }),
  }));
  return { backend, folder, gateway };
}

const results = (hand) => hand.asked.at(-1).messages.filter((message) => message.role === 'tool').map((message) => JSON.parse(message.content));

journey('an agent uses a tool of the page and an operation of a backend that were added by configuration alone', { gateway: false }, async (here) => {
  const { page, hand } = here;
  const { backend, gateway } = await open(here);
  assert.equal(await hand.ask('how much is in stock?'), 'completed');
  await page.locator('[part=assistant-message]', { hasText: 'There are 12 in stock and 2 in your basket.' }).waitFor();
  isValid(hand.asked.at(-1));
  const [article, basket] = results(hand);
  assert.equal(article.pieces, 12);
  assert.deepEqual(basket, { count: 2 });
  const [request] = backend.asked;
  assert.equal(request.url, '/api/articles/B-7%2Fx?warehouse=north', 'an argument stays in its place');
  assert.equal(request.headers.authorization, `Bearer ${TOKEN}`);
  assert.equal(request.headers['x-user'], 'ann', 'by the host, not by arguments');
  assert.ok(request.headers['idempotency-key']);
  const offered = hand.asked.at(-1).tools.map((tool) => tool.name);
  assert.ok(offered.includes('get_article') && offered.includes('basket_count'));
  assert.ok(!offered.includes('delete_article'), 'only what the list allows');
  assert.ok(!JSON.stringify(hand.asked).includes(TOKEN), 'no secret reaches the page');
  assert.ok(!gateway.output.includes(TOKEN), 'nor a log');
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /tool="get_article".*outcome="ok"/);
});

journey('a definition that changes behind an open page is taken up, a bad one takes nothing down', { gateway: false }, async (here) => {
  const { page, hand } = here;
  const { backend, folder, gateway } = await open(here);
  await writeFile(join(folder, 'other.toml'), '[[tool]]\nname = "Bad"\nowner = "somebody"\n');
  const described = config(backend.port).replace('allow = ["getArticle"]', '') +
    '[openapi.allow.getArticle]\nrisk = "write"\ndescription = "Says how many pieces are in stock, and reserves one of them for you."\n';
  await writeFile(join(folder, 'warehouse.toml'), described);
  const listed = async () => (await fetch(`${gateway.url}/tools`)).json();
  const changed = ({ tools, refused }) => tools.some((tool) => tool.name === 'get_article' && tool.risk === 'write') && refused.length > 0;
  let list = await listed();
  for (const end = Date.now() + 20_000; !changed(list) && Date.now() < end; list = await listed()) await new Promise((done) => setTimeout(done, 200));
  const { refused, tools } = list;
  assert.ok(changed(list), JSON.stringify(list));
  assert.ok(refused.some((one) => one.owner === 'somebody' && one.name === 'Bad'), JSON.stringify(refused));
  assert.ok(tools.some((tool) => tool.name === 'order_status'), 'the others stand');
  hand.expects(/409 \(Conflict\)/);
  await hand.ask('how much is in stock?');
  await page.getByText(/The server's tools have changed.*get_article \(.*risk: "read" → "write"/).waitFor();
  assert.equal(backend.asked.length, 0, 'nothing ran by the old definition');
  assert.equal(results(hand)[0].code, 'definition_changed');
});

journey('an export goes on while the agent answers, and its end is told', {}, async ({ page, hand }) => {
  await hand.open();
  assert.equal(await hand.ask('Export the late orders'), 'completed');
  const card = page.locator('[data-tool="orders_export"]');
  await card.waitFor();
  await page.getByRole('link', { name: 'download the file' }).waitFor({ timeout: 15_000 });
  await page.waitForFunction(() => document.querySelector('page-hand').shadowRoot.querySelector('[data-tool="orders_export"]').dataset.state === 'result-available');
  const link = await page.getByRole('link', { name: 'download the file' }).getAttribute('href');
  const file = await page.evaluate(async (path) => (await fetch(path)).text(), link);
  assert.match(file.split('\n')[0], /^Order,Customer,Status/);
  assert.ok(file.trim().split('\n').length > 1);
});

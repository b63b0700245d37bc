// <page-hand> in somebody else's page, of another origin than the gateway's.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { startGateway } from './support/gateway.mjs';
import { journey, listen } from './support/journey.mjs';
import { last, startModel } from './support/model.mjs';
import { isValid } from './support/thread.mjs';

const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };

// All it takes, says the README.
const page = (gateway, element, script = gateway) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>My page</title>
<h1>My page</h1>
<script type="module" src="${script}/www/page-hand.js"></script>
${element.replaceAll('GATEWAY', gateway)}
</html>`;

// A site of another origin, with a copy of the client's files, and a gateway that may or may not know of it.
async function embed(hold, element, { listed = true, own = false, env = {}, pace = 0, headers = () => ({}) } = {}) {
  let gateway;
  const site = hold(await listen(createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    if (pathname === '/') return response.writeHead(200, { 'content-type': 'text/html', ...headers(gateway.url) }).end(page(gateway.url, element, own ? '' : gateway.url));
    try {
      const body = await readFile(process.env.PAGEHAND_SITE + pathname);
      response.writeHead(200, { 'content-type': TYPES[pathname.split('.').at(-1)] ?? 'text/plain' }).end(body);
    } catch {
      response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
    }
  })));
  gateway = await startGateway({ pace, env: { ...env, ...(listed ? { PAGEHAND_ORIGINS: site.url } : {}) } });
  hold({ stop: gateway.kill });
  return { site, gateway };
}

const takeOutAndPutBack = (page) => page.evaluate(async () => {
  const element = document.querySelector('page-hand');
  element.remove();
  await new Promise((done) => setTimeout(done, 50));
  document.body.append(element);
});

const bare = { gateway: false };

journey('inline, in ten lines of a page of another origin: it is there at once, and does its work', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>');
  await page.goto(site.url);
  await hand.composer.waitFor();
  assert.equal(await page.getByRole('button', { name: 'Assistant', exact: true }).count(), 0, 'no launcher');
  assert.equal(await hand.button('Close').count(), 0);
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await hand.shows('order_status', 'result-available');
  assert.match(await hand.words(), /JD014600003RE1042/);
  assert.deepEqual([...new Set(hand.events.map((event) => event.type))], ['ready', 'run-start', 'tool-call', 'run-end']);
  const start = hand.events.find((event) => event.type === 'run-start');
  assert.equal(start.detail.message, 'where is order A-1042?');
});

journey('floating: the launcher opens it, Escape and the close button close it and give the focus back', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="floating" label="Ask us"></page-hand>');
  await page.goto(site.url);
  const launcher = page.getByRole('button', { name: 'Ask us', exact: true });
  assert.equal(await hand.composer.count(), 0);
  for (const close of [() => page.keyboard.press('Escape'), () => hand.button('Close').click()]) {
    await launcher.click();
    await hand.composer.waitFor();
    const box = await hand.panel.boundingBox();
    assert.ok(box.x > 700 && box.width < 500 && box.height < 700, JSON.stringify(box));
    await close();
    await launcher.waitFor();
    assert.equal(await page.evaluate(() => document.querySelector('page-hand').shadowRoot.activeElement?.className), 'launcher');
  }
  await page.evaluate(() => document.querySelector('page-hand').open());
  assert.equal(await page.evaluate(() => document.querySelector('page-hand').isOpen), true);
  await page.evaluate(() => document.querySelector('page-hand').setAttribute('label', 'Help'));
  await page.getByRole('region', { name: 'Help' }).waitFor();
});

journey('a page with the strictest policy and Trusted Types holds it without a complaint', bare, async ({ page, hand, hold }) => {
  const headers = (gateway) => ({
    'content-security-policy': `default-src 'none'; script-src ${gateway} 'wasm-unsafe-eval'; connect-src ${gateway}; require-trusted-types-for 'script'; trusted-types 'none'`,
  });
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>', { headers });
  await page.goto(site.url);
  await hand.composer.waitFor();
  assert.equal(await hand.ask('write a long answer'), 'completed');
  assert.equal(await hand.ask('compare A-1042 and A-1043'), 'completed');
});

journey('a tool of the page is called by the model with the page\'s own data, and is no more once it is unregistered', bare, async ({ page, hand, hold }) => {
  const model = hold(await startModel((body) => (last(body).role === 'user' ? { calls: [{ name: 'cart_count', arguments: { kind: 'tents' } }] } : { text: `The page says: ${last(body).content}` })));
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>', { env: model.env });
  await page.goto(site.url);
  await page.evaluate(() => document.querySelector('page-hand').registerTool({
    name: 'cart_count', owner: 'shop', risk: 'read', label: 'Count the cart',
    description: 'Counts the articles in the shopping cart of this page.',
    parameters: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
    run: async (args, context) => ({ count: 3, ...args, call: typeof context.callId, approved: context.approved, signal: context.signal instanceof AbortSignal }),
  }));
  assert.equal(await hand.ask('how many tents are in the cart?'), 'completed');
  assert.match(await hand.card('cart_count').innerText(), /Count the cart[\s\S]*in this page/);
  assert.deepEqual(JSON.parse(last(model.asked[1]).content), { count: 3, kind: 'tents', call: 'string', approved: false, signal: true });
  assert.ok(model.asked[0].tools.some((tool) => tool.function.name === 'cart_count'));

  assert.deepEqual(await page.evaluate(async () => {
    const element = document.querySelector('page-hand');
    return [await element.unregisterTool('cart_count'), await element.unregisterTool('cart_count'), element.tools.some((tool) => tool.name === 'cart_count')];
  }), [true, false, false]);
  assert.equal(await hand.ask('and now?'), 'completed');
  assert.match(last(model.asked.at(-1)).content, /There is no tool named/);
  assert.ok(!model.asked.at(-1).tools.some((tool) => tool.function.name === 'cart_count'));
});

const GOOD = { name: 'cart_count', owner: 'shop', risk: 'read', description: 'Counts the articles in the shopping cart of this page.', run: true };

// Registers a tool in the page; resolves to what it was refused with, or to null.
const register = (page, tool) => page.evaluate(async (text) => {
  const tool = JSON.parse(text);
  if (tool.run) tool.run = () => 1;
  try {
    await document.querySelector('page-hand').registerTool(tool);
    return null;
  } catch (error) {
    return { real: error instanceof Error, code: error.code, lines: error.message.split('\n') };
  }
}, JSON.stringify(tool));

function lists(refused, ...faults) {
  assert.ok(refused?.real);
  assert.equal(refused.code, 'invalid_tool');
  for (const fault of faults) assert.ok(refused.lines.some((line) => fault.test(line)), `${fault} in:\n${refused.lines.join('\n')}`);
}

journey('a tool with faults is refused with all of them at once, as a rejected promise, before and after the panel is there', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>');
  const bad = { name: 'No Name', owner: '', risk: 'read', description: 'short', parameters: { type: 'array' }, run: true };
  await page.goto(site.url);
  for (let time = 0; time < 2; time++) {
    lists(await register(page, bad), /No Name/, /owner/, /description/, /parameters|object/);
    await hand.composer.waitFor();
  }
  assert.equal(await register(page, GOOD), null);
  lists(await register(page, GOOD), /registered already/);
  // A tool of the server can not be replaced by one of the page.
  await page.waitForFunction(() => document.querySelector('page-hand').tools.some((tool) => tool.name === 'order_status'));
  lists(await register(page, { ...GOOD, name: 'order_status' }), /order_status/);
  lists(await register(page, {}), /risk/, /run/);
});

journey('a tool without a function and of no known risk hears of its other faults, too', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>');
  await page.goto(site.url);
  await hand.composer.waitFor();
  lists(await register(page, { name: 'No Name', owner: '', risk: 'maybe', description: 'short' }), /risk|maybe/, /run/, /No Name/, /owner/, /description/);
});

journey('removed while it works: the connection is let go of, nothing is fetched any more, and it comes back with its thread', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>', { pace: 1 });
  await page.goto(site.url);
  await hand.composer.waitFor();
  await hand.say('write a long answer');
  await hand.thread.getByRole('heading', { name: 'A long answer' }).waitFor();
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/agent'));
  await page.evaluate(() => {
    window.kept = document.querySelector('page-hand');
    window.kept.remove();
  });
  await aborted;
  await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
  assert.deepEqual(requests, []);
  assert.equal(await page.evaluate(() => window.kept.threadId), null);

  const since = hand.events.length;
  await page.evaluate(() => document.body.append(window.kept));
  assert.equal(await hand.ended(since), 'completed', 'the run goes on');
  await hand.thread.getByText('write a long answer').waitFor();
  assert.equal(await hand.ask('thanks'), 'completed');
});

journey('moved to another place of the page while it works, it goes on', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<div id="a"><page-hand gateway="GATEWAY/" placement="inline"></page-hand></div><div id="b"></div>', { pace: 0.2 });
  await page.goto(site.url);
  await hand.composer.waitFor();
  const since = await hand.say('write a long answer');
  await hand.thread.getByRole('heading', { name: 'A long answer' }).waitFor();
  await page.evaluate(() => document.querySelector('#b').append(document.querySelector('page-hand')));
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  assert.equal(hand.events.filter((event) => event.type === 'ready').length, 1);
});

journey('two elements hold two threads, each its own after a reload', bare, async ({ page, hand, hold }) => {
  const one = '<page-hand id="one" gateway="GATEWAY/" placement="inline" label="One"></page-hand>';
  const { site } = await embed(hold, one + one.replace('"one"', '"two"').replace('One', 'Two'));
  await page.goto(site.url);
  const says = async (label, text) => {
    const since = hand.events.length;
    const composer = page.getByRole('region', { name: label }).getByRole('textbox', { name: 'Message to the agent' });
    await composer.fill(text);
    await composer.press('Enter');
    return hand.heard('run-end', () => true, since);
  };
  assert.equal((await says('One', 'where is order A-1042?')).target, 'one');
  assert.equal((await says('Two', 'where is order A-1043?')).target, 'two');
  await page.reload();
  for (const [label, own, other] of [['One', 'A-1042', 'A-1043'], ['Two', 'A-1043', 'A-1042']]) {
    const region = page.getByRole('region', { name: label });
    await region.getByText(`where is order ${own}?`).waitFor();
    assert.equal(await region.getByText(other).count(), 0);
  }
  assert.deepEqual(hand.asked.map((input) => input.messages.filter((message) => message.role === 'user').length), [1, 1, 1, 1]);
  hand.asked.forEach(isValid);
});

journey('on a page whose origin the gateway does not know, the panel says that the gateway can not be reached', bare, async ({ page, hand, hold }) => {
  hand.expects(/blocked by CORS policy/, /net::ERR_FAILED/);
  const { site, gateway } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>', { listed: false, own: true });
  await page.goto(site.url);
  const notice = hand.banner(`The gateway at ${gateway.url}/ can not be reached.`);
  await notice.waitFor();
  assert.equal(await hand.ask('hello'), 'error');
  assert.equal(hand.events.findLast((event) => event.type === 'error').detail.code, 'network');
});

journey('where the WebAssembly can not be had, the panel says so and tries again when asked', {}, async ({ page, hand }) => {
  hand.expects(/Failed to load resource/, /net::ERR_FAILED/);
  await page.evaluate(() => sessionStorage.clear());
  let broken = true;
  await page.route('**/www/pkg/pagehand_bg.wasm', (route) => (broken ? route.abort() : route.continue()));
  await page.reload();
  await page.getByRole('button', { name: 'Pagehand', exact: true }).click();
  const alert = page.locator('page-hand').getByRole('alert');
  await alert.getByText('The panel could not be loaded.').waitFor();
  broken = false;
  await alert.getByRole('button', { name: 'Try again' }).click();
  await hand.composer.waitFor();
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
});


journey('a toolset is opened for each panel that takes it in and closed with it; its handle closes it for good', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>');
  await page.goto(site.url);
  await hand.composer.waitFor();
  const counts = () => page.evaluate(() => [window.opened, window.shut, document.querySelector('page-hand').tools.some((tool) => tool.name === 'cart_add')]);
  await page.evaluate(async () => {
    window.opened = window.shut = 0;
    window.handle = await document.querySelector('page-hand').registerToolset({
      name: 'cart', owner: 'shop', open: () => { window.opened += 1; }, close: () => { window.shut += 1; },
      tools: [{ name: 'cart_add', owner: 'shop', risk: 'read', description: 'Adds something to the cart of this very page.', run: () => 1 }],
    });
  });
  assert.deepEqual(await counts(), [1, 0, true]);
  await page.evaluate(async () => {
    window.kept = document.querySelector('page-hand');
    window.kept.remove();
    await new Promise((done) => setTimeout(done, 100));
  });
  assert.equal(await page.evaluate(() => window.shut), 1);
  await page.evaluate(() => document.body.append(window.kept));
  await hand.composer.waitFor();
  await page.waitForFunction(() => window.opened === 2);
  assert.deepEqual(await counts(), [2, 1, true]);
  assert.equal(await page.evaluate(() => window.handle.close()), true);
  assert.deepEqual(await counts(), [2, 2, false]);
});

journey('taken out and put back while it is loading, it is one panel', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>');
  await page.route('**/pagehand_bg.wasm', async (route) => {
    await new Promise((done) => setTimeout(done, 600));
    await route.continue();
  });
  let listings = 0;
  page.on('request', (request) => { listings += Number(request.method() === 'GET' && new URL(request.url()).pathname === '/tools'); });
  await page.goto(site.url, { waitUntil: 'commit' });
  await page.waitForFunction(() => document.querySelector('page-hand')?.shadowRoot);
  await takeOutAndPutBack(page);
  await hand.composer.waitFor();
  await page.waitForTimeout(800);
  assert.equal(listings, 1);
  assert.equal(hand.events.filter((event) => event.type === 'ready').length, 1);
  assert.equal(await hand.composer.count(), 1);
});

journey('a page limits a run, and a limit that is none is refused', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>');
  await page.goto(site.url);
  const limit = (limits) => page.evaluate((limits) => document.querySelector('page-hand')
    .setLimits(limits).then(() => 'fine', (error) => `${error.code}: ${error.message}`), limits);
  assert.match(await limit({ maxTurns: 1 }), /^invalid_limits: maxTurns: no such limit; there are maxSteps, /);
  assert.equal(await limit({ maxSteps: 1 }), 'fine');
  assert.equal(await hand.ask('where is order A-1042?'), 'max-steps');
  // The next panel of this element is told, too.
  await takeOutAndPutBack(page);
  await hand.composer.waitFor();
  assert.equal(await hand.ask('where is order A-1042?'), 'max-steps');
  assert.equal(await limit({}), 'fine');
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
});

journey('a policy is defined once, and a tool every panel brings along stays out once it is taken out', bare, async ({ page, hand, hold }) => {
  const { site } = await embed(hold, '<page-hand gateway="GATEWAY/" placement="inline"></page-hand>');
  await page.goto(site.url);
  await hand.composer.waitFor();
  const codes = await page.evaluate(async () => {
    const element = document.querySelector('page-hand');
    const code = (rules) => element.definePolicy(rules).then(() => 'fine', (error) => error.code);
    return [await code([{ then: 'perhaps' }]), await code([{ then: 'allow' }]), await code([])];
  });
  assert.deepEqual(codes, ['invalid_policy', 'fine', 'policy_locked']);
  assert.equal(await page.evaluate(() => document.querySelector('page-hand').unregisterTool('open_link')), true);
  await takeOutAndPutBack(page);
  await hand.composer.waitFor();
  await page.waitForFunction(() => document.querySelector('page-hand').tools.length > 5);
  assert.equal(await page.evaluate(() => document.querySelector('page-hand').tools.some((tool) => tool.name === 'open_link')), false);
});

// An AG-UI server by itself: it answers at one address and knows no other.
function startAgent(status, asked) {
  const frame = (event) => `data: ${JSON.stringify(event)}\n\n`;
  return listen(createServer(async (request, response) => {
    const head = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
    asked.push(`${request.method} ${request.url}`);
    if (request.method === 'OPTIONS') return response.writeHead(204, head).end();
    if (request.url !== '/agent') return response.writeHead(status, head).end('Not Found');
    let text = '';
    for await (const data of request.setEncoding('utf8')) text += data;
    const { threadId, runId } = JSON.parse(text);
    response.writeHead(200, { ...head, 'content-type': 'text/event-stream' });
    response.end([
      { type: 'RUN_STARTED', threadId, runId },
      { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Here I am.' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
      { type: 'RUN_FINISHED', threadId, runId },
    ].map(frame).join(''));
  }));
}

for (const [status, isMissing] of [[404, true], [405, true], [501, true], [500, false]]) {
  const what = isMissing ? 'needs no words' : 'is said to be wrong';
  journey(`an agent by itself that answers ${status} to the question for tools ${what}`, bare, async ({ page, hand, hold }) => {
    hand.expects(new RegExp(`status of ${status}`));
    const asked = [];
    const agent = hold(await startAgent(status, asked));
    const { site } = await embed(hold, `<page-hand gateway="${agent.url}/" placement="inline"></page-hand>`);
    await page.goto(site.url);
    await hand.composer.waitFor();
    await page.evaluate((tool) => document.querySelector('page-hand').registerTool({ ...tool, run: () => 1 }), GOOD);
    assert.equal(await hand.ask('are you there?'), 'completed');
    assert.match(await hand.words(), /Here I am\./);
    assert.equal(await page.locator('page-hand .banner').count(), isMissing ? 0 : 1);
    assert.deepEqual(asked.filter((line) => /check/.test(line)), [], 'it is not asked what else a gateway knows');
  });
}

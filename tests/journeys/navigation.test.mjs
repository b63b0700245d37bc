// A tool leaves the document: the next page of the site takes the run up and says where it is.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { startGateway } from './support/gateway.mjs';
import { journey, listen } from './support/journey.mjs';
import { startModel } from './support/model.mjs';
import { isValid } from './support/thread.mjs';

const TYPES = { js: 'text/javascript', wasm: 'application/wasm', css: 'text/css' };
const bare = { gateway: false };

// A site of plain documents, each with its own title; /secret leads to the sign-in page, /plain has no element.
async function site(hold, answer) {
  const model = hold(await startModel(answer));
  let gateway;
  const served = hold(await listen(createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    if (pathname === '/secret') return response.writeHead(302, { location: '/sign-in' }).end();
    if (pathname.startsWith('/www/')) {
      const body = await readFile(process.env.PAGEHAND_SITE + pathname);
      return response.writeHead(200, { 'content-type': TYPES[pathname.split('.').at(-1)] ?? 'text/plain' }).end(body);
    }
    if (pathname === '/favicon.ico') return response.writeHead(204).end();
    const element = pathname === '/plain' ? '' : `<script type="module" src="/www/page-hand.js"></script><page-hand gateway="${gateway.url}/" placement="inline"></page-hand>`;
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Screen ${pathname}</title>${element}`);
  })));
  gateway = await startGateway({ env: { ...model.env, PAGEHAND_ORIGINS: served.url } });
  hold({ stop: gateway.kill });
  return served;
}

const results = (body) => body.messages.filter((message) => message.role === 'tool').map((message) => JSON.parse(message.content));
const go = (url) => ({ name: 'navigate', arguments: { url } });

journey('several navigations in one run, one of them in a batch whose other calls settle first', bare, async ({ page, hand, hold }) => {
  const script = [
    { calls: [go('/first'), { name: 'order_status', arguments: { order_id: 'A-1042' } }] },
    { calls: [go('/second?a=1')] },
    { text: 'We are there.' },
  ];
  const asked = [];
  const served = await site(hold, (body) => (asked.push(body), script[results(body).length === 0 ? 0 : results(body).length === 2 ? 1 : 2]));
  let calls = 0;
  await page.route('**/tools/order_status', async (route) => {
    if (route.request().method() === 'POST') calls += 1;
    await new Promise((done) => setTimeout(done, 700));
    await route.continue();
  });
  await page.goto(served.url);
  await hand.composer.waitFor();
  const since = hand.events.length;
  await hand.say('Take me there');
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(page.url(), `${served.url}/second?a=1`);
  await hand.thread.getByText('We are there.').first().waitFor();
  await page.locator('[data-tool="navigate"]').nth(1).waitFor();
  const told = results(asked.at(-1));
  assert.deepEqual(told[0], { address: `${served.url}/first`, title: 'Screen /first' });
  assert.equal(told[1].id, 'A-1042', 'it was settled before the document was left');
  assert.deepEqual(told[2], { address: `${served.url}/second?a=1`, title: 'Screen /second' });
  assert.equal(calls, 1);
  hand.asked.forEach(isValid);
});

journey('led elsewhere, to a sign-in page, the model is told where the user is', bare, async ({ page, hand, hold }) => {
  const asked = [];
  const served = await site(hold, (body) => (asked.push(body), results(body).length ? { text: 'Please sign in.' } : { calls: [go('/secret')] }));
  await page.goto(served.url);
  await hand.composer.waitFor();
  const since = hand.events.length;
  await hand.say('Show me the secret');
  assert.equal(await hand.ended(since), 'completed');
  const [told] = results(asked.at(-1));
  assert.equal(told.address, `${served.url}/sign-in`);
  assert.match(told.note, /not the address that was asked for/);
});

journey('on a page without the element the run waits, and goes on where the element is again', bare, async ({ page, hand, hold }) => {
  const asked = [];
  const served = await site(hold, (body) => (asked.push(body), results(body).length ? { text: 'Welcome back.' } : { calls: [go('/plain')] }));
  await page.goto(served.url);
  await hand.composer.waitFor();
  const since = hand.events.length;
  await hand.say('Go to the plain page');
  await page.waitForURL('**/plain');
  await page.waitForTimeout(500);
  assert.equal(asked.length, 1);
  await page.goto(`${served.url}/later`);
  assert.equal(await hand.ended(since), 'completed');
  assert.match(results(asked.at(-1))[0].note, /not the address that was asked for/);
  await hand.thread.getByText('Welcome back.').first().waitFor();
});

journey('back on a page that was left in the middle: the thread is the whole one, and nothing runs twice', bare, async ({ page, hand, hold }) => {
  const asked = [];
  const served = await site(hold, (body) => (asked.push(body), results(body).length ? { text: 'We are there.' } : { calls: [go('/first')] }));
  await page.goto(served.url);
  await hand.composer.waitFor();
  const since = hand.events.length;
  await hand.say('Take me there');
  assert.equal(await hand.ended(since), 'completed');
  await page.goBack();
  await hand.thread.getByText('We are there.').first().waitFor();
  await page.waitForTimeout(500);
  assert.equal(asked.length, 2);
  assert.equal(await hand.ask('Thanks'), 'completed');
});

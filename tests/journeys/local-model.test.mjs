// A real language model, a very small one, behind llama.cpp's own OpenAI-compatible server: real tokens, real usage, and
// a stop that reaches the model. Too small to call tools sensibly, so no more than that is asked of it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { after, before } from 'node:test';
import { freePort, startGateway } from './support/gateway.mjs';
import { journey } from './support/journey.mjs';

const SCRIPT = new URL('../../../shared/peers/llm/serve.sh', import.meta.url).pathname;
const HOME = new URL('../../target/llm', import.meta.url).pathname;
const START_MS = 240_000;
// It comes from outside the project; without it there is nothing to test here.
const skip = !existsSync(SCRIPT) && 'the script that starts the server is not here';

let server;
let url;

before(async () => {
  if (skip) return;
  mkdirSync(HOME, { recursive: true });
  const port = await freePort();
  server = spawn('bash', [SCRIPT, String(port)], { env: { ...process.env, LLM_HOME: HOME }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  url = `http://127.0.0.1:${port}`;
  let output = '';
  await new Promise((resolve, reject) => {
    const keep = (data) => {
      output += data;
      if (output.includes('READY')) resolve();
    };
    server.stdout.on('data', keep);
    server.stderr.on('data', keep);
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
    setTimeout(() => reject(new Error(`the server was not up within ${START_MS} ms: ${output}`)), START_MS).unref();
  });
});

after(() => server && process.kill(-server.pid, 'SIGKILL'));

async function open({ page, hand, hold }) {
  const env = { PAGEHAND_MODEL_URL: `${url}/v1`, PAGEHAND_MODEL: 'smollm2-135m' };
  const gateway = await startGateway({ env });
  hold({ stop: () => gateway.kill() });
  await page.goto(gateway.url);
  await hand.open();
}

async function isBusy() {
  const slots = await (await fetch(`${url}/slots`)).json();
  return slots.some((slot) => slot.is_processing);
}

journey('a real model answers in its own words, and its tokens are counted', { gateway: false, skip }, async (here) => {
  await open(here);
  const { hand, page } = here;
  await page.getByText('smollm2-135m').waitFor();
  assert.equal(await hand.ask('Say hello and name three colours.', 120_000), 'completed');
  const answer = page.locator('page-hand [part~="assistant-message"]');
  assert.match(await answer.innerText(), /\w+/);
  await page.getByText(/^[\d,]+ tokens in, [\d,]+\sout$/).waitFor();
});

journey('stop reaches the model', { gateway: false, skip }, async (here) => {
  await open(here);
  const { hand, page } = here;
  const since = await hand.say('Write a very long story about the sea, in a hundred chapters.');
  await page.locator('page-hand [part~="assistant-message"]').waitFor({ timeout: 120_000 });
  assert.equal(await isBusy(), true);
  await hand.button('Stop').click();
  assert.equal(await hand.ended(since), 'stopped');
  for (const deadline = Date.now() + 5000; await isBusy(); ) assert.ok(Date.now() < deadline, 'the model still writes');
});

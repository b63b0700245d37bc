// Bodies that our encoders make: the vendors' own types take each of them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { read, request, write } from './support/codec.mjs';
import { COMPOSED } from './support/composed.mjs';
import { THREADS, results, user } from './support/threads.mjs';

const HOME = new URL('../../target/parties/', import.meta.url).pathname;
const MODULES = new URL('node_modules', import.meta.url).pathname;

const CHAT = { from: 'openai', import: 'OpenAI', type: 'OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming' };

const TYPES = {
  openai_chat: CHAT,
  openai_compatible: CHAT,
  llama_cpp: CHAT,
  mistral: CHAT,
  openai_responses: { from: 'openai', import: 'OpenAI', type: 'OpenAI.Responses.ResponseCreateParamsStreaming' },
  anthropic: { from: '@anthropic-ai/sdk', import: 'Anthropic', type: 'Anthropic.MessageCreateParamsStreaming' },
  // The SDK's own parameters are of another form than the wire; these are the types of what stands in both.
  gemini: {
    from: '@google/genai', import: '{ Content, GenerationConfig, Tool, ToolConfig }',
    type: '{ contents: Content[]; systemInstruction?: Content; tools?: Tool[]; toolConfig?: ToolConfig; generationConfig?: GenerationConfig }',
  },
  gemini_interactions: { from: '@google/genai', import: '{ Interactions }', type: 'Interactions.CreateModelInteractionParamsStreaming & { store: boolean }' },
  // Its types know neither ids of calls nor whole schemas, which its server does: so what is more than they know passes.
  ollama: { from: 'ollama', import: '{ ChatRequest }', type: 'ChatRequest', more: true },
};

// Bodies that no type describes, each for its reason.
const UNTYPED = {
  'anthropic, after a block nobody knows': 'a block that the types do not know goes back as it came',
  'gemini, after code that ran there': 'the types have enums here, to which TypeScript lets no text be assigned',
};

/** Every thread that this vendor takes; and for each good stream its answer, replayed with results and a next question. */
async function bodies(vendor) {
  const list = [];
  const add = async (name, input, mayRefuse) => {
    const { body, error } = await write(vendor, input);
    if (error && mayRefuse) return assert.match(error, /take|fetch/, name);
    assert.equal(error, undefined, `${vendor}, ${name}`);
    if (!UNTYPED[`${vendor}, ${name}`]) list.push({ name, body });
  };
  for (const { name, input, files } of THREADS) await add(name, input, files);
  const api = TYPES[vendor] === CHAT ? 'openai_chat' : vendor;
  for (const one of COMPOSED.filter((one) => one.api === api && !one.todo)) {
    const said = await read(vendor, one.bytes);
    if (said.error || !said.finish) continue;
    const asked = user('Weather and time in Oslo?');
    await add(`after ${one.name}`, request([asked, ...said.messages, ...results(said), user('And in Rome?')]));
  }
  return list;
}

const sources = {};

for (const vendor of Object.keys(TYPES)) {
  test(`${vendor}: every thread becomes a body`, async () => {
    const made = await bodies(vendor);
    assert.ok(made.length > 20);
    const { from, import: name, type, more } = TYPES[vendor];
    const lines = made.map(({ name, body }, at) => {
      const json = JSON.stringify(body, null, 1);
      return `// ${name}\n${more ? `const raw${at} = ${json};\nexport const body${at}: Body = raw${at};` : `export const body${at}: Body = ${json};`}`;
    });
    const wrong = `// @ts-expect-error\nexport const wrong: Body = { stream: 'sometimes', messages: 7 };`;
    sources[vendor] = `import type ${name} from '${from}';\ntype Body = ${type};\n\n${wrong}\n${lines.join('\n')}\n`;
  });
}

test('the types of the SDKs take all of them', async () => {
  mkdirSync(HOME, { recursive: true });
  if (!existsSync(`${HOME}node_modules`)) symlinkSync(MODULES, `${HOME}node_modules`);
  const files = Object.entries(sources).map(([vendor, source]) => {
    writeFileSync(`${HOME}${vendor}.ts`, source);
    return `${HOME}${vendor}.ts`;
  });
  assert.equal(files.length, Object.keys(TYPES).length);
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--lib', 'es2022,dom', '--module', 'esnext', '--moduleResolution', 'bundler', '--types', ''];
  await promisify(execFile)(process.env.PAGEHAND_TSC ?? 'tsc', [...options, ...files], { maxBuffer: 64 * 1024 * 1024 }).catch((error) => assert.fail(error.stdout || error.message));
});

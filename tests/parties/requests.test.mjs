// Bodies that our encoders make: the vendors' own types take each of them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { GoogleGenAI } from '@google/genai';
import { read, request, write } from './support/codec.mjs';
import { COMPOSED } from './support/composed.mjs';
import { serving } from './support/server.mjs';
import { THREADS, results, user } from './support/threads.mjs';

const HOME = new URL('../../target/parties/', import.meta.url).pathname;
const DOCS = new URL('../../docs/models.md', import.meta.url);
const MODULES = new URL('node_modules', import.meta.url).pathname;

const CHAT = { from: 'openai', import: 'OpenAI', type: 'OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming' };

const TYPES = {
  openai_chat: CHAT,
  openai_compatible: CHAT,
  llama_cpp: CHAT,
  mistral: CHAT,
  openai_responses: { from: 'openai', import: 'OpenAI', type: 'OpenAI.Responses.ResponseCreateParamsStreaming', less: withPlainAnswers },
  anthropic: { from: '@anthropic-ai/sdk', import: 'Anthropic', type: 'Anthropic.MessageCreateParamsStreaming' },
  // The SDK's own parameters are of another form than the wire; these are the types of what stands in both.
  gemini: {
    from: '@google/genai', import: '{ Content, GenerationConfig, Tool, ToolConfig }',
    type: '{ contents: Content[]; systemInstruction?: Content; tools?: Tool[]; toolConfig?: ToolConfig; generationConfig?: GenerationConfig }',
  },
  gemini_interactions: { from: '@google/genai', import: '{ Interactions }', type: 'Interactions.CreateModelInteractionParamsStreaming & { store: boolean }' },
  ollama: { from: 'ollama', import: '{ ChatRequest }', type: 'ChatRequest & { stream: true }', less: withoutNewer },
};

// Bodies that no type describes, each for its reason.
const UNTYPED = {
  'anthropic, after a block nobody knows': 'a block that the types do not know goes back as it came',
  'gemini, after code that ran there': 'the types have enums here, to which TypeScript lets no text be assigned',
  'gemini, with {"generationConfig":{"thinkingConfig"': 'the same',
};

// Ollama's server knows ids and numbers of calls and whole schemas (api/types.go); the types of its package do not.
function withoutNewer(body) {
  const messages = body.messages.map(({ tool_call_id, tool_calls, ...message }) => ({
    ...message, ...(tool_calls ? { tool_calls: tool_calls.map(({ function: { index, ...called } }) => ({ function: called })) } : {}),
  }));
  const plain = ({ additionalProperties, ...schema }) => schema;
  const tools = body.tools?.map((tool) => ({ ...tool, function: { ...tool.function, parameters: plain(tool.function.parameters) } }));
  return { ...body, messages, ...(tools ? { tools } : {}) };
}

// An answer from elsewhere has no id and no status. The server takes its `output_text` so; the types take only a text.
function withPlainAnswers(body) {
  const plain = (item) => item.role === 'assistant' && !('id' in item) && item.content.length === 1 && item.content[0].type === 'output_text';
  return { ...body, input: body.input.map((item) => (plain(item) ? { ...item, content: item.content[0].text } : item)) };
}

// What docs/models.md says may be put into a request, by provider.
function documented() {
  const found = {};
  let vendor;
  for (const row of readFileSync(DOCS, 'utf8').matchAll(/^\| (?:`(\w+)`.*?)?\| .*? \| `(\{.*\})` \|$/gm)) {
    vendor = row[1] ?? vendor;
    (found[vendor] ??= []).push(JSON.parse(row[2].replace(/(\w+) = /g, '"$1": ')));
  }
  return found;
}

/** Every thread that this vendor takes; and for each good stream its answer, replayed with results and a next question. */
async function bodies(vendor) {
  const list = [];
  const add = async (name, input, mayRefuse, more) => {
    const { body, error } = await write(vendor, input, more);
    if (error && mayRefuse) return assert.match(error, /take|fetch/, name);
    assert.equal(error, undefined, `${vendor}, ${name}`);
    if (!Object.keys(UNTYPED).some((untyped) => `${vendor}, ${name}`.startsWith(untyped))) list.push({ name, body });
    return body;
  };
  for (const { name, input, files } of THREADS) await add(name, input, files);
  for (const parameters of documented()[vendor] ?? []) {
    const body = await add(`with ${JSON.stringify(parameters)}`, request([user('Hi.')]), false, { parameters });
    for (const [name, value] of Object.entries(parameters)) assert.deepEqual(body[name], value);
  }
  const api = TYPES[vendor] === CHAT ? 'openai_chat' : vendor;
  for (const one of COMPOSED.filter((one) => one.api === api && !one.todo)) {
    const said = await read(vendor, one.bytes);
    if (said.error || !said.finish || !said.messages) continue;
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
    const { from, import: name, type, less = (body) => body } = TYPES[vendor];
    const lines = made.map(({ name, body }, at) => `// ${name}\nexport const body${at}: Body = ${JSON.stringify(less(body), null, 1)};`);
    const wrong = `// @ts-expect-error\nexport const wrong: Body = { stream: 'sometimes', messages: 7 };`;
    sources[vendor] = `import type ${name} from '${from}';\ntype Body = ${type};\n\n${wrong}\n${lines.join('\n')}\n`;
  });
}

test('the docs have parameters for every API', () => {
  assert.deepEqual(Object.keys(documented()), ['anthropic', 'openai_responses', 'openai_chat', 'gemini', 'gemini_interactions', 'ollama']);
});

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

// Google's SDK has parameters of its own and writes the wire's JSON from them: given what we send, it sends the same.
for (const [vendor, ask] of Object.entries({
  gemini: (client, { contents, generationConfig, ...config }) => client.models.generateContentStream({ model: 'small', contents, config: { ...config, ...generationConfig } }),
  gemini_interactions: (client, body) => client.interactions.create({ ...body, automatic_continuation: false }),
})) {
  test(`${vendor}: the SDK sends what we send`, async () => {
    const made = await bodies(vendor);
    await serving('', {}, async (url, requests) => {
      const client = new GoogleGenAI({ apiKey: 'no-key', httpOptions: { baseUrl: url } });
      for (const { name, body } of made) {
        await ask(client, body).catch(() => {});
        // The SDK always says that there may be a configuration, and who gives instructions.
        const { generationConfig, ...theirs } = JSON.parse(requests.pop());
        if (theirs.systemInstruction) delete theirs.systemInstruction.role;
        if (Object.keys(generationConfig ?? {}).length) theirs.generationConfig = generationConfig;
        assert.deepEqual(theirs, body, name);
      }
    });
  });
}

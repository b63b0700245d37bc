// What each API refuses in a thread, as its vendor documents it or as its servers say in their errors. Each check throws
// with the words of the rule that is broken.

import assert from 'node:assert/strict';

const once = (list, what) => assert.equal(new Set(list).size, list.length, `${what} are each there once: ${list}`);
const PLAIN = /^[a-zA-Z0-9_-]{1,64}$/;
const GOOGLE = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;
const name = (text, pattern = PLAIN) => assert.match(text, pattern, 'the alphabet of names');

function chat(body, ids, names) {
  const { messages } = body;
  if ('tools' in body) {
    assert.ok(body.tools.length, 'a list of tools has tools');
    once(body.tools.map((tool) => (name(tool.function.name, names), tool.function.name)), 'tools');
  } else {
    assert.equal('parallel_tool_calls' in body, false, 'parallel_tool_calls is for tools');
  }
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    assert.ok(['system', 'user', 'assistant', 'tool'].includes(message.role));
    if (message.role === 'system') assert.equal(at, 0, 'instructions come first');
    if (message.role === 'tool') assert.fail('a result stands behind its call');
    if (message.role !== 'assistant') continue;
    assert.equal(typeof message.content, 'string', 'some want "" rather than null');
    if (!('tool_calls' in message)) continue;
    assert.ok(message.tool_calls.length, 'a list of calls has calls');
    once(message.tool_calls.map((call) => call.id), 'ids');
    for (const call of message.tool_calls) {
      assert.match(call.id, ids);
      name(call.function.name, names);
      assert.equal(typeof JSON.parse(call.function.arguments), 'object', 'arguments are a JSON object in a text');
      assert.equal(Array.isArray(JSON.parse(call.function.arguments)), false);
      at += 1;
      assert.equal(messages[at]?.role, 'tool', 'each call has a result, at once');
      assert.equal(messages[at].tool_call_id, call.id, 'results are in the order of the calls');
      assert.equal(typeof messages[at].content, 'string');
    }
  }
}

function responses(body) {
  const open = new Map();
  for (const [at, item] of body.input.entries()) {
    if (item.type === 'function_call') {
      assert.ok(item.call_id.length >= 1 && item.call_id.length <= 64, 'call_id has 64 letters at most');
      assert.ok(!('id' in item) || item.id.startsWith('fc'), 'an id of an item begins with fc');
      assert.equal(open.has(item.call_id), false, 'an id is there once');
      name(item.name);
      JSON.parse(item.arguments);
      open.set(item.call_id, false);
    } else if (item.type === 'function_call_output') {
      assert.equal(open.get(item.call_id), false, 'a result has a call, and a call one result');
      open.set(item.call_id, true);
    } else {
      // Nothing but results between calls and their results.
      if (item.role === 'user') assert.ok([...open.values()].every(Boolean), 'no tool output found for a function call');
      if (item.type === 'reasoning') {
        assert.ok(item.encrypted_content, 'a thought goes back by its encrypted content');
        assert.ok(['function_call', 'message', 'reasoning'].includes(body.input[at + 1]?.type) && body.input[at + 1].role !== 'user', 'a thought has the item it led to behind it');
      }
    }
  }
  assert.ok([...open.values()].every(Boolean), 'no tool output found for a function call');
  assert.equal(body.store, false);
}

function messages(body) {
  let open = [];
  const all = [];
  assert.equal(body.messages[0].role, 'user', 'the user begins');
  assert.ok(body.max_tokens > 0);
  body.tools?.forEach((tool) => (name(tool.name, /^[a-zA-Z0-9_-]{1,128}$/), assert.equal(tool.input_schema.type, 'object')));
  body.messages.forEach((message, at) => {
    // Two answers in a row are taken as one there; a question in two messages would part results from their calls.
    if (at && message.role === 'user') assert.notEqual(message.role, body.messages[at - 1].role, 'one message for all the user says');
    assert.ok(message.content.length, 'no message is empty');
    const results = message.content.filter((block) => block.type === 'tool_result');
    if (message.role === 'user') {
      assert.deepEqual(results.map((block) => block.tool_use_id), open, 'each tool_use has its tool_result in the next message');
      assert.ok(message.content.slice(0, results.length).every((block) => block.type === 'tool_result'), 'results come first');
      open = [];
    } else {
      assert.equal(results.length, 0);
      open = message.content.filter((block) => block.type === 'tool_use').map((block) => {
        assert.match(block.id, /^[a-zA-Z0-9_-]+$/, 'the alphabet of ids');
        assert.equal(typeof block.input, 'object');
        assert.equal(Array.isArray(block.input), false, 'input is an object');
        assert.ok(body.tools?.length, 'there are tools where the thread holds calls');
        return block.id;
      });
      all.push(...open);
      assert.ok(message.content.some((block) => !/thinking$/.test(block.type)), 'thoughts alone are no answer');
    }
    for (const block of message.content) if (block.type === 'text') assert.match(block.text, /\P{White_Space}/u, 'no text is empty');
  });
  once(all, 'ids');
  assert.deepEqual(open, [], 'the last calls have results');
  assert.equal(body.messages.at(-1).role, 'user', 'the last word is not the model\'s');
}

function gemini(body) {
  const { contents } = body;
  let open = [];
  contents.forEach(({ role, parts }, at) => {
    assert.ok(['user', 'model'].includes(role));
    assert.ok(parts.length, 'no content is empty');
    const responses = parts.filter((part) => part.functionResponse).map((part) => part.functionResponse);
    assert.deepEqual(responses.map(({ id, name }) => ({ id, name })), open, 'as many results as calls, in one content');
    responses.forEach(({ response }) => assert.ok(response && typeof response === 'object' && !Array.isArray(response), 'a response is an object'));
    if (responses.length) assert.equal(parts.length, responses.length, 'results stand alone');
    const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
    if (calls.length) {
      assert.equal(role, 'model');
      assert.ok(at && contents[at - 1].role === 'user', 'calls come after the user or a result');
      assert.ok(parts.find((part) => part.functionCall).thoughtSignature, 'the first call has a signature');
      calls.forEach((call) => name(call.name, GOOGLE));
    }
    open = calls.map(({ id, name }) => ({ id, name }));
  });
  assert.deepEqual(open, [], 'the last calls have results');
  assert.equal(contents[0].role, 'user');
  assert.equal(contents.at(-1).role, 'user');
  for (const tool of body.tools ?? []) for (const one of tool.functionDeclarations) assert.notDeepEqual(one.parametersJsonSchema?.properties, {}, 'no empty object');
}

function interactions(body) {
  let open = [];
  for (const step of body.input) {
    if (step.type === 'function_call') {
      assert.ok(step.id, 'a call has an id');
      assert.equal(typeof step.arguments, 'object');
      open.push(step.id);
    } else if (step.type === 'function_result') {
      assert.equal(open.shift(), step.call_id, 'each call has its result, in order');
    } else if (step.type === 'user_input') {
      assert.deepEqual(open, [], 'calls have results before the user goes on');
      assert.ok(step.content.length);
    }
  }
  assert.deepEqual(open, []);
}

function ollama(body) {
  let open = [];
  for (const message of body.messages) {
    if (message.role === 'tool') {
      const call = open.shift();
      assert.equal(message.tool_name, call?.function.name, 'results in the order of the calls');
      assert.equal(message.tool_call_id, call?.id);
      continue;
    }
    assert.deepEqual(open, []);
    open = [...(message.tool_calls ?? [])];
    open.forEach((call) => assert.ok(call.function.arguments && typeof call.function.arguments === 'object' && !Array.isArray(call.function.arguments), 'arguments are an object'));
  }
  assert.deepEqual(open, []);
}

const ANY = /^[\s\S]{1,40}$/;
const OF = {
  openai_responses: responses, anthropic: messages, gemini, gemini_interactions: interactions, ollama,
  mistral: (body) => chat(body, /^[a-zA-Z0-9]{9}$/),
  gemini_openai: (body) => chat(body, ANY, GOOGLE), ollama_openai: (body) => chat(body, ANY, /./), llama_cpp: (body) => chat(body, ANY, /./),
  kimi: (body) => chat(body, /^functions\.[a-zA-Z0-9_-]+:\d+$/),
};

/** Vendors, and the check of each. */
export const CHECKS = Object.fromEntries(
  ['openai_chat', 'openai_responses', 'anthropic', 'gemini', 'gemini_interactions', 'gemini_openai', 'ollama', 'ollama_openai', 'llama_cpp', 'lm_studio', 'vllm', 'openrouter', 'groq', 'mistral', 'deepseek', 'kimi', 'dashscope', 'openai_compatible']
    .map((vendor) => [vendor, OF[vendor] ?? ((body) => chat(body, ANY))]),
);

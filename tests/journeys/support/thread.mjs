// What every request to the model must look like, whatever happened before it.

import assert from 'node:assert/strict';

/** Every call of every answer is followed by its results, each once, in call order, before anything else. */
export function isValid(input) {
  const { messages } = input;
  for (let at = 0; at < messages.length; at++) {
    const { role, toolCalls = [] } = messages[at];
    assert.ok(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity'].includes(role), `a role ${role}`);
    if (role !== 'assistant') continue;
    const results = [];
    while (messages[at + 1]?.role === 'tool') results.push(messages[++at].toolCallId);
    assert.deepEqual(results, toolCalls.map((call) => call.id), 'the results follow their calls, in call order');
  }
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => call.id));
  assert.equal(new Set(calls).size, calls.length, 'no call is there twice');
  const results = messages.filter(({ role }) => role === 'tool');
  assert.equal(results.length, calls.length, 'each call has one result');
  for (const message of messages.filter(({ role }) => role === 'assistant')) {
    for (const call of message.toolCalls ?? []) JSON.parse(call.function.arguments);
  }
}

/** The result of the newest call of a tool, parsed where it is JSON. */
export function resultOf(input, tool) {
  const calls = input.messages.flatMap(({ toolCalls = [] }) => toolCalls);
  const call = calls.findLast((call) => call.function.name === tool);
  assert.ok(call, `a call of ${tool}`);
  const message = input.messages.find(({ role, toolCallId }) => role === 'tool' && toolCallId === call.id);
  try {
    return JSON.parse(message.content);
  } catch {
    return message.content;
  }
}

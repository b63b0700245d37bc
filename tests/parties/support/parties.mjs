// The official SDKs, each asked for a stream; what each of them makes of it, in our words:
// {text, reasoning, calls: [{id, name, arguments}], finish, usage: {input, output, cached, reasoning}} or {error}.

import { GoogleGenAI } from '@google/genai';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Ollama } from 'ollama';

const KEY = 'no-key';
const quiet = { error() {}, warn() {}, info() {}, debug() {} };
const USER = 'Weather and time in Oslo?';

/** Arguments as a value, whether they come as text or as one; `undefined` for what is no JSON. */
export function parsed(text) {
  if (typeof text !== 'string') return text ?? {};
  if (!text.trim()) return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// SDKs warn on the console of what is no text; that is not for whoever reads our tests.
async function silently(work) {
  const { warn, error } = console;
  console.warn = console.error = () => {};
  try {
    return await work();
  } catch (error) {
    return { error: `${error?.message ?? error}` };
  } finally {
    Object.assign(console, { warn, error });
  }
}

const CHAT = { stop: 'done', tool_calls: 'calls', function_call: 'calls', length: 'length', content_filter: 'refused' };

async function chat(url) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0, logLevel: 'off' });
  const stream = client.chat.completions.stream({ model: 'small', messages: [{ role: 'user', content: USER }], stream_options: { include_usage: true } });
  let thoughts = '';
  // Not in its types, but passed on.
  stream.on('chunk', (chunk) => (thoughts += chunk.choices?.[0]?.delta?.reasoning_content ?? ''));
  const { choices, usage } = await stream.finalChatCompletion();
  const [{ message, finish_reason }] = choices;
  return {
    text: `${message.content ?? ''}${message.refusal ?? ''}`, reasoning: thoughts,
    calls: (message.tool_calls ?? []).map(({ id, function: called }) => ({ id, name: called.name, arguments: parsed(called.arguments) })),
    finish: CHAT[finish_reason] ?? finish_reason,
    usage: usage && {
      input: usage.prompt_tokens, output: usage.completion_tokens, cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  };
}

const INCOMPLETE = { max_output_tokens: 'length', content_filter: 'refused' };

async function responses(url) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0, logLevel: 'off' });
  const response = await client.responses.stream({ model: 'small', input: USER }).finalResponse();
  if (response.status === 'failed') return { error: response.error?.message ?? 'failed' };
  const of = (type) => response.output.filter((item) => item.type === type);
  const calls = of('function_call').map((item) => ({ id: item.call_id, name: item.name, arguments: parsed(item.arguments) }));
  const { usage } = response;
  return {
    text: of('message').flatMap((item) => item.content).map((part) => part.text ?? part.refusal).join(''),
    reasoning: of('reasoning').map((item) => [...item.summary, ...(item.content ?? [])].map((part) => part.text).join('\n\n')).join(''),
    calls,
    finish: finishOf(response, calls),
    again: response.output,
    usage: usage && {
      input: usage.input_tokens, output: usage.output_tokens, cached: usage.input_tokens_details?.cached_tokens ?? 0,
      reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
    },
  };
}

function finishOf({ status, incomplete_details: details }, calls) {
  if (status === 'in_progress') return null;
  if (status === 'incomplete') return INCOMPLETE[details?.reason] ?? details?.reason ?? 'incomplete';
  return calls.length ? 'calls' : 'done';
}

const STOP = { end_turn: 'done', stop_sequence: 'done', tool_use: 'calls', max_tokens: 'length', model_context_window_exceeded: 'length', pause_turn: 'paused', refusal: 'refused' };

async function messages(url) {
  const client = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0, logger: quiet });
  const message = await client.messages.stream({ model: 'small', max_tokens: 1024, messages: [{ role: 'user', content: USER }] }).finalMessage();
  const { usage } = message;
  return {
    text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: message.content.filter((block) => block.type === 'tool_use').map(({ id, name, input }) => ({ id, name, arguments: parsed(input) })),
    finish: STOP[message.stop_reason] ?? message.stop_reason,
    again: message.content,
    usage: {
      input: usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0), output: usage.output_tokens,
      cached: usage.cache_read_input_tokens ?? 0, reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  };
}

const google = (url) => new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
const BLOCKED = /^(SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII)$/;

async function gemini(url) {
  const said = { text: '', reasoning: '', calls: [], finish: null, usage: null };
  const again = [];
  for await (const chunk of await google(url).models.generateContentStream({ model: 'small', contents: USER })) {
    // Its `Chat` keeps nothing of an answer with an empty chunk in it, so what would go back is what came.
    again.push(...(chunk.candidates ?? []).slice(0, 1).map((candidate) => candidate.content ?? {}));
    said.text += chunk.text ?? '';
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) if (part.thought) said.reasoning += part.text ?? '';
    for (const call of chunk.functionCalls ?? []) said.calls.push({ id: call.id ?? null, name: call.name, arguments: parsed(call.args) });
    const reason = chunk.candidates?.[0]?.finishReason;
    if (reason) said.finish = reason;
    const usage = chunk.usageMetadata;
    if (usage) {
      said.usage = {
        input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
        output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0), cached: usage.cachedContentTokenCount ?? 0,
        reasoning: usage.thoughtsTokenCount ?? 0,
      };
    }
  }
  if (said.finish === 'STOP') said.finish = said.calls.length ? 'calls' : 'done';
  if (said.finish === 'MAX_TOKENS') said.finish = 'length';
  if (BLOCKED.test(said.finish)) said.finish = 'refused';
  return { ...said, again };
}

const STATUS = { completed: 'done', requires_action: 'calls', incomplete: 'length', budget_exceeded: 'length' };

// The SDK reads the events and leaves it to its user to put them together.
async function interactions(url) {
  const said = { text: '', reasoning: '', calls: [], finish: null, usage: null };
  const open = new Map();
  const stream = await google(url).interactions.create({ model: 'small', input: USER, stream: true, store: false, automatic_continuation: false });
  for await (const event of stream) {
    if (event.event_type === 'step.start' && event.step.type === 'function_call') {
      const call = { id: event.step.id, name: event.step.name, arguments: event.step.arguments };
      said.calls.push(call);
      open.set(event.index, call);
    }
    if (event.event_type === 'step.start' && event.step.type === 'model_output') for (const part of event.step.content ?? []) said.text += part.text ?? '';
    if (event.event_type === 'step.delta') {
      const { delta } = event;
      if (delta.type === 'text') said.text += delta.text;
      if (delta.type === 'thought_summary') said.reasoning += delta.content?.text ?? '';
      if (delta.type === 'arguments_delta') {
        const call = open.get(event.index);
        call.arguments = (typeof call.arguments === 'string' ? call.arguments : '') + (delta.arguments ?? '');
      }
    }
    if (event.event_type === 'error') return { error: event.error?.message };
    if (event.event_type === 'interaction.completed') {
      const { usage, status } = event.interaction;
      if (status === 'failed' || status === 'cancelled') return { error: status };
      said.finish = STATUS[status] ?? status;
      said.usage = usage && {
        input: (usage.total_input_tokens ?? 0) + (usage.total_tool_use_tokens ?? 0), output: (usage.total_output_tokens ?? 0) + (usage.total_thought_tokens ?? 0),
        cached: usage.total_cached_tokens ?? 0, reasoning: usage.total_thought_tokens ?? 0,
      };
    }
  }
  said.calls.forEach((call) => (call.arguments = parsed(call.arguments)));
  return said;
}

async function ollama(url) {
  const said = { text: '', reasoning: '', calls: [], finish: null, usage: null };
  const stream = await new Ollama({ host: url }).chat({ model: 'small', messages: [{ role: 'user', content: USER }], stream: true });
  for await (const { message, done, done_reason, prompt_eval_count, eval_count } of stream) {
    said.text += message?.content ?? '';
    said.reasoning += message?.thinking ?? '';
    for (const { id, function: called } of message?.tool_calls ?? []) said.calls.push({ id: id ?? null, name: called.name, arguments: parsed(called.arguments) });
    if (done) {
      said.finish = done_reason === 'length' ? 'length' : said.calls.length ? 'calls' : 'done';
      said.usage = { input: prompt_eval_count ?? 0, output: eval_count ?? 0, cached: 0, reasoning: 0 };
    }
  }
  return said;
}

const READERS = { openai_chat: chat, openai_responses: responses, anthropic: messages, gemini, gemini_interactions: interactions, ollama };

export const APIS = Object.keys(READERS);

/** What the SDK of an API makes of the server at `url`. One that hangs is an error after 10 s. */
export async function party(api, url) {
  const { again, ...said } = await whole(api, url);
  return said;
}

/** The same, with `again`: what the SDK would send back as the model's answer. */
export function whole(api, url) {
  const late = new Promise((resolve) => setTimeout(() => resolve({ error: 'it hangs' }), 10_000).unref());
  return silently(async () => {
    const said = await Promise.race([READERS[api](url), late]);
    return said.error === undefined ? { ...said, usage: said.usage ?? null } : said;
  });
}

/** The same of our decoder's answer. */
export function ours(said) {
  if (said.error) return { error: said.error.message };
  return {
    text: said.text, reasoning: said.reasoning, calls: said.calls.map((call) => ({ ...call, arguments: parsed(call.arguments) })),
    finish: said.finish, usage: said.usage,
  };
}

// Answers by chance, and each API's stream of one, as its documentation says streams look.

/** An answer: parts in order, how it ends, what it took. */
export function answer(random, api) {
  const parts = [];
  let id = 0;
  const text = () => parts.push({ kind: 'text', text: random.text() });
  const callId = () => {
    id += 1;
    if (api === 'anthropic') return `toolu_${random.letters(12)}${id}`;
    if (api === 'openai_chat' && random.often(0.2)) return `functions.get_weather:${id}`;
    return `call_${random.letters(10)}${id}`;
  };
  if (random.often(0.4)) parts.push({ kind: 'reasoning', text: random.text() });
  if (random.often(0.7)) text();
  const calls = random.often(0.6) ? random.between(1, 4) : 0;
  for (let at = 0; at < calls; at += 1) {
    parts.push({ kind: 'call', id: callId(), name: random.one(['get_weather', 'get_time', 'list_open', 'unknown_tool']), arguments: random.object() });
    // Text between calls, where the API keeps an order.
    if (api !== 'openai_chat' && api !== 'ollama' && random.often(0.2)) text();
  }
  if (!parts.some((part) => part.kind !== 'reasoning')) text();
  const finish = calls ? 'calls' : random.one(['done', 'done', 'done', 'length']);
  const usage = { input: random.between(1, 90000), output: random.between(1, 9000), cached: 0, reasoning: 0 };
  if (random.often() && api !== 'ollama') usage.cached = random.below(usage.input);
  if (random.often() && api !== 'ollama') usage.reasoning = random.below(usage.output);
  return { parts, finish, usage };
}

/** What anyone must make of it. */
export function expected({ parts, finish, usage }) {
  const of = (kind) => parts.filter((part) => part.kind === kind);
  const words = (kind) => of(kind).map((part) => part.text).join('');
  return { text: words('text'), reasoning: words('reasoning'), calls: of('call').map(({ id, name, arguments: args }) => ({ id, name, arguments: args })), finish, usage };
}

/** The bytes of it. */
export function stream(api, random, said) {
  if (api === 'ollama') return lines(random, ollama(random, said));
  return events(random, WRITERS[api](random, said), api);
}

// ---- framing ----

function events(random, list, api) {
  // The Gemini SDK knows no comments, and the end of an event only as two equal line ends.
  const plain = api === 'gemini';
  const end = random.often(0.2) ? '\r\n' : '\n';
  const space = random.often(0.85) ? ' ' : '';
  let out = '';
  for (const event of list) {
    if (!plain && random.often(0.05)) out += `: keep-alive${end}${end}`;
    if (event.name) out += `event:${space}${event.name}${end}`;
    out += `data:${space}${typeof event.data === 'string' ? event.data : random.written(event.data)}${end}${end}`;
  }
  return out;
}

const lines = (random, list) => list.map((line) => `${random.written(line)}\n`).join('');

// ---- each API ----

function chat(random, { parts, finish, usage }) {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'small' };
  const chunk = (delta, finish_reason = null) => ({ data: { ...base, choices: [{ index: 0, delta, finish_reason }], ...(random.often(0.3) ? { usage: null } : {}) } });
  const out = [chunk({ role: 'assistant', content: random.one(['', null]) })];
  let index = 0;
  const calls = [];
  for (const part of parts) {
    if (part.kind === 'text') for (const piece of random.pieces(part.text)) out.push(chunk({ content: piece }));
    if (part.kind === 'reasoning') for (const piece of random.pieces(part.text)) out.push(chunk({ reasoning_content: piece }));
    if (part.kind === 'call') calls.push({ index: index++, part, pieces: random.pieces(random.written(part.arguments)) });
  }
  // Calls one after the other; or opened all, and then in turns.
  const first = ({ index, part, pieces }) => ({ index, id: part.id, type: 'function', function: { name: part.name, arguments: pieces.shift() ?? '' } });
  const more = ({ index, pieces }) => ({ index, function: { arguments: pieces.shift() } });
  if (random.often(0.3)) {
    for (const call of calls) out.push(chunk({ tool_calls: [first(call)] }));
    for (let open = calls.filter((call) => call.pieces.length); open.length; open = open.filter((call) => call.pieces.length)) {
      out.push(chunk({ tool_calls: random.often(0.3) ? open.map(more) : [more(random.one(open))] }));
    }
  } else {
    for (const call of calls) {
      out.push(chunk({ tool_calls: [first(call)] }));
      while (call.pieces.length) out.push(chunk({ tool_calls: [more(call)] }));
    }
  }
  const word = { calls: 'tool_calls', done: 'stop', length: 'length' }[finish];
  out.push(chunk({}, word));
  const tokens = {
    prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached }, completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
  out.push({ data: { ...base, choices: [], usage: tokens } }, { data: '[DONE]' });
  return out;
}

function responses(random, { parts, finish, usage }) {
  let number = 0;
  const out = [];
  const add = (type, fields) => out.push({ name: type, data: { type, sequence_number: number++, ...fields } });
  const base = { id: 'resp_1', object: 'response', created_at: 1, model: 'small' };
  add('response.created', { response: { ...base, status: 'in_progress', output: [] } });
  if (random.often()) add('response.in_progress', { response: { ...base, status: 'in_progress', output: [] } });
  const items = [];
  parts.forEach((part, output_index) => {
    if (part.kind === 'reasoning') {
      const id = `rs_${output_index}`;
      add('response.output_item.added', { output_index, item: { type: 'reasoning', id, summary: [] } });
      add('response.reasoning_summary_part.added', { item_id: id, output_index, summary_index: 0, part: { type: 'summary_text', text: '' } });
      for (const delta of random.pieces(part.text)) add('response.reasoning_summary_text.delta', { item_id: id, output_index, summary_index: 0, delta });
      add('response.reasoning_summary_text.done', { item_id: id, output_index, summary_index: 0, text: part.text });
      add('response.reasoning_summary_part.done', { item_id: id, output_index, summary_index: 0, part: { type: 'summary_text', text: part.text } });
      items.push({ type: 'reasoning', id, summary: [{ type: 'summary_text', text: part.text }], ...(random.often() ? { encrypted_content: random.letters(20) } : {}) });
    }
    if (part.kind === 'text') {
      const id = `msg_${output_index}`;
      const content = { type: 'output_text', text: part.text, annotations: [] };
      add('response.output_item.added', { output_index, item: { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] } });
      add('response.content_part.added', { item_id: id, output_index, content_index: 0, part: { ...content, text: '' } });
      for (const delta of random.pieces(part.text)) add('response.output_text.delta', { item_id: id, output_index, content_index: 0, delta, ...(random.often() ? { obfuscation: random.letters(4) } : {}) });
      add('response.output_text.done', { item_id: id, output_index, content_index: 0, text: part.text });
      add('response.content_part.done', { item_id: id, output_index, content_index: 0, part: content });
      items.push({ type: 'message', id, role: 'assistant', status: 'completed', content: [content] });
    }
    if (part.kind === 'call') {
      const id = `fc_${output_index}`;
      const text = random.written(part.arguments);
      const item = { type: 'function_call', id, call_id: part.id, name: part.name, arguments: '', status: 'in_progress' };
      add('response.output_item.added', { output_index, item });
      for (const delta of random.pieces(text)) add('response.function_call_arguments.delta', { item_id: id, output_index, delta });
      if (random.often(0.8)) add('response.function_call_arguments.done', { item_id: id, output_index, arguments: text });
      items.push({ ...item, arguments: text, status: 'completed' });
    }
    add('response.output_item.done', { output_index, item: items.at(-1) });
  });
  const tokens = {
    input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output,
    input_tokens_details: { cached_tokens: usage.cached }, output_tokens_details: { reasoning_tokens: usage.reasoning },
  };
  const last = finish === 'length' ? 'incomplete' : 'completed';
  add(`response.${last}`, {
    response: { ...base, status: last, output: items, usage: tokens, incomplete_details: finish === 'length' ? { reason: 'max_output_tokens' } : null },
  });
  return out;
}

function anthropic(random, { parts, finish, usage }) {
  const out = [];
  const add = (type, fields = {}) => {
    if (random.often(0.1)) out.push({ name: 'ping', data: { type: 'ping' } });
    out.push({ name: type, data: { type, ...fields } });
  };
  const fresh = random.below(usage.input - usage.cached + 1);
  const tokens = { input_tokens: usage.input - usage.cached - fresh, cache_creation_input_tokens: fresh, cache_read_input_tokens: usage.cached };
  const late = random.often(0.3);
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'small', content: [], stop_reason: null, stop_sequence: null, usage: { ...tokens, output_tokens: 1 } };
  add('message_start', { message });
  parts.forEach((part, index) => {
    if (part.kind === 'text') {
      add('content_block_start', { index, content_block: { type: 'text', text: '' } });
      for (const text of random.pieces(part.text)) add('content_block_delta', { index, delta: { type: 'text_delta', text } });
    }
    if (part.kind === 'reasoning') {
      add('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } });
      for (const thinking of random.pieces(part.text)) add('content_block_delta', { index, delta: { type: 'thinking_delta', thinking } });
      add('content_block_delta', { index, delta: { type: 'signature_delta', signature: random.letters(24) } });
    }
    if (part.kind === 'call') {
      add('content_block_start', { index, content_block: { type: 'tool_use', id: part.id, name: part.name, input: {} } });
      const none = !Object.keys(part.arguments).length;
      add('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: '' } });
      if (!none || random.often()) for (const partial_json of random.pieces(random.written(part.arguments))) add('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
    }
    add('content_block_stop', { index });
  });
  const details = usage.reasoning ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {};
  add('message_delta', {
    delta: { stop_reason: { calls: 'tool_use', done: 'end_turn', length: 'max_tokens' }[finish], stop_sequence: null },
    usage: { output_tokens: usage.output, ...(late ? tokens : {}), ...details },
  });
  add('message_stop');
  return out;
}

function gemini(random, { parts, finish, usage }) {
  const tokens = {
    promptTokenCount: usage.input, cachedContentTokenCount: usage.cached, candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning, totalTokenCount: usage.input + usage.output,
  };
  const pieces = parts.flatMap((part) => {
    if (part.kind === 'call') return [{ functionCall: { id: part.id, name: part.name, ...(Object.keys(part.arguments).length || random.often() ? { args: part.arguments } : {}) }, ...(random.often() ? { thoughtSignature: 'QUJD' } : {}) }];
    return random.pieces(part.text).map((text) => ({ text, ...(part.kind === 'reasoning' ? { thought: true } : {}), ...(random.often(0.1) ? { thoughtSignature: random.letters(8) } : {}) }));
  });
  const chunks = [];
  while (pieces.length) chunks.push(pieces.splice(0, random.between(1, 3)));
  const last = { calls: 'STOP', done: 'STOP', length: 'MAX_TOKENS' }[finish];
  if (random.often(0.3)) chunks.push(random.one([[], [{ text: '', thoughtSignature: 'QUJD' }]]));
  return chunks.map((list, at) => {
    const ends = at === chunks.length - 1;
    const candidate = { index: 0, content: { role: 'model', parts: list }, ...(ends ? { finishReason: last } : {}) };
    return { data: { candidates: [candidate], usageMetadata: ends ? tokens : { promptTokenCount: usage.input, totalTokenCount: usage.input }, modelVersion: 'small', responseId: 'r-1' } };
  });
}

function interactions(random, { parts, finish, usage }) {
  const out = [];
  const add = (event_type, fields) => out.push({ name: event_type, data: { event_type, event_id: `e${out.length}`, ...fields } });
  add('interaction.created', { interaction: { id: '', status: 'in_progress' } });
  if (random.often()) add('interaction.status_update', { interaction_id: '', status: 'in_progress' });
  parts.forEach((part, index) => {
    if (part.kind === 'text') {
      add('step.start', { index, step: { type: 'model_output', content: [] } });
      for (const text of random.pieces(part.text)) add('step.delta', { index, delta: { type: 'text', text } });
    }
    if (part.kind === 'reasoning') {
      add('step.start', { index, step: { type: 'thought' } });
      for (const text of random.pieces(part.text)) add('step.delta', { index, delta: { type: 'thought_summary', content: { type: 'text', text } } });
      add('step.delta', { index, delta: { type: 'thought_signature', signature: random.letters(16) } });
    }
    if (part.kind === 'call') {
      const whole = random.often(0.2);
      add('step.start', { index, step: { type: 'function_call', id: part.id, name: part.name, arguments: whole ? part.arguments : {} } });
      if (!whole) for (const piece of random.pieces(random.written(part.arguments))) add('step.delta', { index, delta: { type: 'arguments_delta', arguments: piece } });
    }
    add('step.stop', { index });
  });
  add('interaction.completed', {
    interaction: {
      id: '', status: { calls: 'requires_action', done: 'completed', length: 'incomplete' }[finish],
      usage: { total_input_tokens: usage.input, total_cached_tokens: usage.cached, total_output_tokens: usage.output - usage.reasoning, total_thought_tokens: usage.reasoning, total_tokens: usage.input + usage.output },
    },
  });
  out.push({ name: 'done', data: '[DONE]' });
  return out;
}

function ollama(random, { parts, finish, usage }) {
  const base = { model: 'small', created_at: '2026-11-30T10:00:00Z' };
  const line = (message, more = { done: false }) => ({ ...base, message: { role: 'assistant', content: '', ...message }, ...more });
  const calls = parts.filter((part) => part.kind === 'call').map((part, at) => ({ id: part.id, function: { index: random.often() ? at : 0, name: part.name, arguments: part.arguments } }));
  const out = parts.flatMap((part) => {
    if (part.kind === 'text') return random.pieces(part.text).map((content) => line({ content }));
    if (part.kind === 'reasoning') return random.pieces(part.text).map((thinking) => line({ thinking }));
    return [];
  });
  while (calls.length) out.push(line({ tool_calls: calls.splice(0, random.between(1, 2)) }));
  out.push(line({}, { done: true, done_reason: finish === 'length' ? 'length' : 'stop', prompt_eval_count: usage.input, eval_count: usage.output }));
  return out;
}

const WRITERS = { openai_chat: chat, openai_responses: responses, anthropic, gemini, gemini_interactions: interactions };

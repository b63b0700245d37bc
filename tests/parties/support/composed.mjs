// Streams composed by hand from the vendors' documentation and from reports of what servers really send.
//
// `says` is what both must make of a stream, or a part of it. `differs` lists where an SDK is known to make something else
// of it: why, and what. `error: true` stands for any error.

const sse = (...list) => list.map((one) => (typeof one === 'string' ? one : `${one.type || one.event_type ? `event: ${one.type ?? one.event_type}\n` : ''}data: ${JSON.stringify(one)}\n\n`)).join('');
const data = (...list) => list.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');
const ndjson = (...list) => list.map((one) => `${JSON.stringify(one)}\n`).join('');

const OSLO = { id: 'call_a', name: 'get_weather', arguments: { city: 'Oslo' } };
const TIME = { id: 'call_b', name: 'get_time', arguments: { zone: 'Europe/Oslo' } };
const TWO = { text: 'Checking both.', calls: [OSLO, TIME], finish: 'calls' };

// ---- Chat Completions ----

const chunk = (delta, finish_reason = null, more = {}) => ({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'small', choices: [{ index: 0, delta, finish_reason }], ...more });
const role = chunk({ role: 'assistant', content: '' });
const callPiece = (index, text, more = {}) => chunk({ tool_calls: [{ index, ...more, function: { ...(more.function ?? {}), arguments: text } }] });
const opens = (index, id, name) => callPiece(index, '', { id, type: 'function', function: { name } });

const CHAT = [
  {
    name: 'arguments cut at the limit',
    bytes: data(role, opens(0, 'call_a', 'get_weather'), callPiece(0, '{"city":"Os'), chunk({}, 'length'), '[DONE]'),
    says: { calls: [{ id: 'call_a', name: 'get_weather', arguments: undefined }], finish: 'length' },
  },
  { name: 'a refusal', bytes: data(role, chunk({ refusal: 'I can' }), chunk({ refusal: 'not.' }), chunk({}, 'stop'), '[DONE]'), says: { text: 'I cannot.', finish: 'done' } },
  { name: 'a filter in the middle', bytes: data(role, chunk({ content: 'The' }), chunk({}, 'content_filter'), '[DONE]'), says: { text: 'The', finish: 'refused' } },
  { name: 'an error after words', bytes: data(role, chunk({ content: 'The' }), { error: { message: 'Overloaded', type: 'server_error', code: null } }), says: { error: true } },
  {
    name: 'pieces of two calls in turns',
    bytes: data(role, opens(0, 'call_a', 'get_weather'), opens(1, 'call_b', 'get_time'), callPiece(1, '{"zone":'), callPiece(0, '{"city":"Oslo"}'), callPiece(1, '"Europe/Oslo"}'), chunk({}, 'tool_calls'), '[DONE]'),
    says: { calls: [OSLO, TIME], finish: 'calls' },
  },
  {
    name: 'usage in its own last chunk',
    bytes: data(role, chunk({ content: 'Hi' }), chunk({}, 'stop'), { id: 'c1', object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 80, completion_tokens: 31, total_tokens: 111, prompt_tokens_details: { cached_tokens: 64 } } }, '[DONE]'),
    says: { usage: { input: 80, output: 31, cached: 64, reasoning: 0 } },
  },
  { name: 'cut before any reason', bytes: data(role, chunk({ content: 'The' })), says: { finish: null }, differs: { why: 'the SDK says by an error that no reason came; ours ends without a finish, which the loop takes as cut', theirs: { error: /missing finish_reason/ } } },
  {
    name: 'cut inside of a call',
    bytes: data(role, opens(0, 'call_a', 'get_weather'), callPiece(0, '{"city":"Os')), says: { finish: null },
    differs: { why: 'as above', theirs: { error: /missing finish_reason/ } },
  },
  { name: 'a reason and no mark of the end', bytes: data(role, chunk({ content: 'Hi' }), chunk({}, 'stop')), says: { text: 'Hi', finish: 'done' } },
  { name: 'the last event without its empty line', bytes: data(role, chunk({ content: 'Hi' }), chunk({}, 'stop')).trimEnd(), says: { text: 'Hi', finish: 'done' } },
  {
    name: 'one call twice under one index in one chunk',
    bytes: data(role, chunk({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'get_weather', arguments: '{"city":' } }, { index: 0, function: { arguments: '"Oslo"}' } }] }), chunk({}, 'tool_calls'), '[DONE]'),
    says: { calls: [OSLO], finish: 'calls' },
  },
];

// ---- Responses ----

const response = (status, more = {}) => ({ id: 'resp_1', object: 'response', created_at: 1, model: 'small', status, output: [], ...more });
const created = { type: 'response.created', sequence_number: 0, response: response('in_progress') };
const usage = { input_tokens: 80, output_tokens: 71, total_tokens: 151, input_tokens_details: { cached_tokens: 16 }, output_tokens_details: { reasoning_tokens: 40 } };
const message = (output_index, content, status = 'completed') => ({ type: 'message', id: `msg_${output_index}`, role: 'assistant', status, content });
const text = (words) => ({ type: 'output_text', text: words, annotations: [] });
const added = (output_index, item) => ({ type: 'response.output_item.added', output_index, item });
const done = (output_index, item) => ({ type: 'response.output_item.done', output_index, item });
const said = (output_index, ...parts) => [
  added(output_index, message(output_index, [], 'in_progress')),
  ...parts.flatMap((part, content_index) => [
    { type: 'response.content_part.added', item_id: `msg_${output_index}`, output_index, content_index, part: { ...part, ...(part.type === 'refusal' ? { refusal: '' } : { text: '' }) } },
    { type: part.type === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta', item_id: `msg_${output_index}`, output_index, content_index, delta: part.text ?? part.refusal },
    { type: 'response.content_part.done', item_id: `msg_${output_index}`, output_index, content_index, part },
  ]),
  done(output_index, message(output_index, parts)),
];
const callItem = (output_index, call_id, name, args, more = {}) => ({ type: 'function_call', id: `fc_${output_index}`, call_id, name, arguments: args, status: args ? 'completed' : 'in_progress', ...more });
const argumentsDelta = (output_index, delta) => ({ type: 'response.function_call_arguments.delta', item_id: `fc_${output_index}`, output_index, delta });
const completed = (output, more = {}) => ({ type: 'response.completed', response: response('completed', { output, usage, ...more }) });
const both = [callItem(1, 'call_a', 'get_weather', '{"city":"Oslo"}'), callItem(2, 'call_b', 'get_time', '{"zone":"Europe/Oslo"}')];
const twoCalls = [
  added(1, callItem(1, 'call_a', 'get_weather', '')), added(2, callItem(2, 'call_b', 'get_time', '')), argumentsDelta(2, '{"zone":'), argumentsDelta(1, '{"city":"Oslo"}'),
  argumentsDelta(2, '"Europe/Oslo"}'), done(2, both[1]), done(1, both[0]),
];

const RESPONSES = [
  {
    name: 'words and two calls in turns',
    bytes: sse(created, ...said(0, text('Checking both.')), ...twoCalls, completed([message(0, [text('Checking both.')]), ...both])),
    says: { ...TWO, usage: { input: 80, output: 71, cached: 16, reasoning: 40 } },
  },
  { name: 'the last event holds no output', bytes: sse(created, ...said(0, text('Checking both.')), ...twoCalls, { type: 'response.completed', response: { ...response('completed'), output: undefined } }), says: TWO },
  {
    name: 'no content parts are announced',
    bytes: sse(created, added(0, message(0, [], 'in_progress')), { type: 'response.output_text.delta', item_id: 'msg_0', output_index: 0, content_index: 0, delta: 'Hi.' }, done(0, message(0, [text('Hi.')])), completed([message(0, [text('Hi.')])])),
    says: { text: 'Hi.', finish: 'done' }, differs: { why: 'the SDK wants a part before its pieces; compatible servers leave it out', theirs: { error: /missing content/ } },
  },
  { name: 'a refusal', bytes: sse(created, ...said(0, { type: 'refusal', refusal: 'I cannot.' }), completed([message(0, [{ type: 'refusal', refusal: 'I cannot.' }])])), says: { text: 'I cannot.', finish: 'done' } },
  { name: 'two texts in one message', bytes: sse(created, ...said(0, text('Hi.'), text(' There.')), completed([message(0, [text('Hi.'), text(' There.')])])), says: { text: 'Hi. There.' } },
  {
    name: 'cut by the limit of tokens',
    bytes: sse(created, ...said(0, text('The')), { type: 'response.incomplete', response: response('incomplete', { output: [message(0, [text('The')])], incomplete_details: { reason: 'max_output_tokens' }, usage }) }),
    says: { text: 'The', finish: 'length' },
  },
  {
    name: 'cut by a filter',
    bytes: sse(created, ...said(0, text('The')), { type: 'response.incomplete', response: response('incomplete', { output: [message(0, [text('The')])], incomplete_details: { reason: 'content_filter' } }) }),
    says: { text: 'The', finish: 'refused' },
  },
  { name: 'failed', bytes: sse(created, { type: 'response.failed', response: response('failed', { error: { code: 'server_error', message: 'Broken.' } }) }), says: { error: true } },
  { name: 'an error event', bytes: sse(created, { type: 'error', code: 'server_error', message: 'Broken.', param: null, sequence_number: 1 }), says: { error: true } },
  {
    name: 'an event after the end', bytes: sse(created, ...said(0, text('Hi.')), completed([message(0, [text('Hi.')])]), { type: 'rate_limits.updated', rate_limits: [] }), says: { text: 'Hi.', finish: 'done' },
    differs: { why: 'the SDK throws at events it does not know, also behind the end', theirs: { error: /Unhandled response stream event/ } },
  },
  {
    name: 'an event nobody knows', bytes: sse(created, { type: 'response.sparkle', sparkle: 1 }, ...said(0, text('Hi.')), completed([message(0, [text('Hi.')])])), says: { text: 'Hi.', finish: 'done' },
    differs: { why: 'as above', theirs: { error: /Unhandled response stream event/ } },
  },
  {
    name: 'a search of its own, then words',
    bytes: sse(created, added(0, { type: 'web_search_call', id: 'ws_0', status: 'in_progress' }), { type: 'response.web_search_call.searching', item_id: 'ws_0', output_index: 0 }, done(0, { type: 'web_search_call', id: 'ws_0', status: 'completed', action: { type: 'search', query: 'Oslo' } }), ...said(1, text('Cold.')), completed([{ type: 'web_search_call', id: 'ws_0', status: 'completed', action: { type: 'search', query: 'Oslo' } }, message(1, [text('Cold.')])])),
    says: { text: 'Cold.', calls: [], finish: 'done' },
  },
  {
    name: 'a summary in two parts',
    bytes: sse(
      created, added(0, { type: 'reasoning', id: 'rs_0', summary: [] }),
      ...['First.', 'Second.'].flatMap((words, summary_index) => [
        { type: 'response.reasoning_summary_part.added', item_id: 'rs_0', output_index: 0, summary_index, part: { type: 'summary_text', text: '' } },
        { type: 'response.reasoning_summary_text.delta', item_id: 'rs_0', output_index: 0, summary_index, delta: words },
      ]),
      done(0, { type: 'reasoning', id: 'rs_0', summary: [{ type: 'summary_text', text: 'First.' }, { type: 'summary_text', text: 'Second.' }], encrypted_content: 'gAAA' }), ...said(1, text('Hi.')), completed([]),
    ),
    says: { reasoning: 'First.\n\nSecond.', text: 'Hi.' },
    differs: { why: 'the SDK believes an empty output of the last event; the items that were streamed count for us', theirs: { text: '', reasoning: '' } },
  },
  {
    name: 'a call whose end has other arguments', bytes: sse(created, added(0, callItem(0, 'call_a', 'get_weather', '')), argumentsDelta(0, '{"city":"Rome"}'), done(0, callItem(0, 'call_a', 'get_weather', '{"city":"Oslo"}')), completed([callItem(0, 'call_a', 'get_weather', '{"city":"Oslo"}')])),
    says: { error: /two different arguments/ }, differs: { why: 'the SDK takes the later ones; ours were shown already, so we run neither', theirs: { calls: [OSLO] } },
  },
  {
    name: 'a call without pieces', bytes: sse(created, added(0, callItem(0, 'call_a', 'get_weather', '')), done(0, callItem(0, 'call_a', 'get_weather', '{"city":"Oslo"}')), completed([callItem(0, 'call_a', 'get_weather', '{"city":"Oslo"}')])), says: { calls: [OSLO], finish: 'calls' },
  },
  {
    name: 'cut inside of a call', bytes: sse(created, added(0, callItem(0, 'call_a', 'get_weather', '')), argumentsDelta(0, '{"city":"Os')), says: { finish: null, calls: [] },
    differs: { why: 'the SDK keeps the half call; the loop lets go of what an unfinished answer asked for', theirs: { finish: null, calls: [{ id: 'call_a', name: 'get_weather', arguments: undefined }] } },
  },
  { name: 'the whole answer, where a stream was asked for', bytes: JSON.stringify(response('completed', { output: [message(0, [text('Checking both.')]), ...both], usage })), says: TWO, differs: { why: 'the SDK finds no event in it', theirs: { error: true } } },
  { name: 'items in the last event alone', bytes: sse(created, completed([message(0, [text('Checking both.')]), ...both])), says: TWO },
];

// ---- Anthropic ----

const start = (more = {}) => ({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'small', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 80, output_tokens: 1 }, ...more } });
const block = (index, content_block, ...deltas) => [{ type: 'content_block_start', index, content_block }, ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })), { type: 'content_block_stop', index }];
const words = (index, ...list) => block(index, { type: 'text', text: '' }, ...list.map((one) => ({ type: 'text_delta', text: one })));
const use = (index, id, name, ...list) => block(index, { type: 'tool_use', id, name, input: {} }, ...list.map((partial_json) => ({ type: 'input_json_delta', partial_json })));
const stop = (stop_reason, more = {}) => [{ type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage: { output_tokens: 71 } }, { type: 'message_stop' }];

const ANTHROPIC = [
  {
    name: 'thoughts, words and two calls',
    bytes: sse(start(), { type: 'ping' }, ...block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'thinking_delta', thinking: 'Two tools.' }, { type: 'signature_delta', signature: 'QUJD' }), ...words(1, 'Checking', ' both.'), ...use(2, 'call_a', 'get_weather', '', '{"city":', '"Oslo"}'), ...use(3, 'call_b', 'get_time', '{"zone":"Europe/Oslo"}'), ...stop('tool_use')),
    says: { ...TWO, reasoning: 'Two tools.', usage: { input: 80, output: 71, cached: 0, reasoning: 0 } },
  },
  { name: 'a call without arguments and without a piece', bytes: sse(start(), ...use(0, 'call_a', 'list_open'), ...stop('tool_use')), says: { calls: [{ id: 'call_a', name: 'list_open', arguments: {} }] } },
  { name: 'a call with an empty piece', bytes: sse(start(), ...use(0, 'call_a', 'list_open', ''), ...stop('tool_use')), says: { calls: [{ id: 'call_a', name: 'list_open', arguments: {} }] } },
  { name: 'arguments whole at the start of their block', bytes: sse(start(), ...block(0, { type: 'tool_use', id: 'call_a', name: 'get_weather', input: { city: 'Oslo' } }), ...stop('tool_use')), says: { calls: [OSLO] } },
  {
    name: 'arguments cut at the limit', bytes: sse(start(), ...use(0, 'call_a', 'get_weather', '{"city":"Os'), ...stop('max_tokens')), says: { calls: [{ id: 'call_a', name: 'get_weather', arguments: undefined }], finish: 'length' },
    differs: { why: 'the SDK drops what is cut and hands on the rest as arguments; we invent nothing', theirs: { calls: [{ id: 'call_a', name: 'get_weather', arguments: {} }] } },
  },
  { name: 'overloaded in the middle', bytes: sse(start(), ...words(0, 'The'), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' }), says: { error: true } },
  { name: 'thoughts that are redacted', bytes: sse(start(), ...block(0, { type: 'redacted_thinking', data: 'QUJD' }), ...words(1, 'Hi.'), ...stop('end_turn')), says: { text: 'Hi.', reasoning: '', finish: 'done' } },
  {
    name: 'a search on the server',
    bytes: sse(start(), ...block(0, { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }, { type: 'input_json_delta', partial_json: '{"query":"Oslo"}' }), ...block(1, { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }), ...words(2, 'Cold.'), ...stop('end_turn')),
    says: { text: 'Cold.', calls: [], finish: 'done' },
  },
  {
    name: 'words with citations', bytes: sse(start(), ...block(0, { type: 'text', text: '', citations: [] }, { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'x', document_index: 0, document_title: null, start_char_index: 0, end_char_index: 1 } }, { type: 'text_delta', text: 'Cold.' }), ...stop('end_turn')),
    says: { text: 'Cold.' },
  },
  { name: 'words at the start of a block', bytes: sse(start(), ...block(0, { type: 'text', text: 'Co' }, { type: 'text_delta', text: 'ld.' }), ...stop('end_turn')), says: { text: 'Cold.' } },
  { name: 'a turn that pauses', bytes: sse(start(), ...words(0, 'Wait.'), ...stop('pause_turn')), says: { text: 'Wait.', finish: 'paused' } },
  { name: 'a refusal after words', bytes: sse(start(), ...words(0, 'The'), ...stop('refusal')), says: { text: 'The', finish: 'refused' } },
  { name: 'a refusal and nothing else', bytes: sse(start(), ...stop('refusal')), says: { text: '', calls: [], finish: 'refused' } },
  { name: 'the window is full', bytes: sse(start(), ...words(0, 'The'), ...stop('model_context_window_exceeded')), says: { finish: 'length' } },
  { name: 'a stop sequence', bytes: sse(start(), ...words(0, 'The'), ...stop('stop_sequence', { stop_sequence: 'END' })), says: { finish: 'done' } },
  {
    name: 'usage that comes with the end', bytes: sse(start({ usage: { input_tokens: 3, output_tokens: 1 } }), ...words(0, 'Hi.'), { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 7 } }, { type: 'message_stop' }),
    says: { usage: { input: 115, output: 7, cached: 100, reasoning: 0 } },
  },
  {
    name: 'an input of the start, a cache of the end', bytes: sse(start({ usage: { input_tokens: 10, output_tokens: 1 } }), ...words(0, 'Hi.'), { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { cache_read_input_tokens: 100, output_tokens: 7 } }, { type: 'message_stop' }),
    says: { usage: { input: 110, output: 7, cached: 100, reasoning: 0 } },
  },
  {
    name: 'an input that is said again without its cache', bytes: sse(start({ usage: { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 } }), ...words(0, 'Hi.'), { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { input_tokens: 10, output_tokens: 7 } }, { type: 'message_stop' }),
    says: { usage: { input: 110, output: 7, cached: 100, reasoning: 0 } },
  },
  {
    name: 'no names of events', bytes: data(start(), ...words(0, 'Hi.'), ...stop('end_turn')), says: { text: 'Hi.', finish: 'done' },
    differs: { why: 'the SDK reads events by their name alone; some proxies drop it', theirs: { error: /without sending any chunks/ } },
  },
  {
    name: 'cut before its end', bytes: sse(start(), ...words(0, 'The')), says: { text: 'The', finish: null },
    differs: { why: 'a connection that closes in good order is an end to the SDK, without a reason', theirs: { error: true } },
  },
  { name: 'an event nobody knows', bytes: sse(start(), { type: 'sparkle' }, ...words(0, 'Hi.'), ...stop('end_turn')), says: { text: 'Hi.', finish: 'done' } },
  { name: 'a block nobody knows', bytes: sse(start(), ...block(0, { type: 'sparkle', glow: 1 }), ...words(1, 'Hi.'), ...stop('end_turn')), says: { text: 'Hi.', finish: 'done' } },
];

// ---- Gemini ----

const candidate = (parts, more = {}) => ({ candidates: [{ index: 0, content: { role: 'model', parts }, ...more }], modelVersion: 'small', responseId: 'r-1' });
const END = { finishReason: 'STOP' };
const osloCall = { functionCall: { id: 'call_a', name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'QUJD' };
const timeCall = { functionCall: { id: 'call_b', name: 'get_time', args: { zone: 'Europe/Oslo' } } };

const GEMINI = [
  { name: 'words and two calls in chunks of their own', bytes: data(candidate([{ text: 'Checking both.' }]), candidate([osloCall]), candidate([timeCall], END)), says: TWO },
  { name: 'a first STOP with nothing in it', bytes: data(candidate([], END), candidate([{ text: 'Hi.' }]), candidate([], END)), says: { text: 'Hi.', finish: 'done' } },
  { name: 'a signature on an empty text', bytes: data(candidate([{ text: 'Hi.' }]), candidate([{ text: '', thoughtSignature: 'QUJD' }], END)), says: { text: 'Hi.', finish: 'done' } },
  { name: 'thoughts', bytes: data(candidate([{ text: 'Two ', thought: true }, { text: 'tools.', thought: true }]), candidate([{ text: 'Hi.' }], END)), says: { text: 'Hi.', reasoning: 'Two tools.' } },
  {
    name: 'calls without ids and arguments', bytes: data(candidate([{ functionCall: { name: 'list_open' } }, { functionCall: { name: 'list_open', args: {} } }], END)),
    says: { calls: [{ id: null, name: 'list_open', arguments: {} }, { id: null, name: 'list_open', arguments: {} }], finish: 'calls' },
  },
  { name: 'the limit of tokens', bytes: data(candidate([{ text: 'The' }]), candidate([], { finishReason: 'MAX_TOKENS' })), says: { text: 'The', finish: 'length' } },
  { name: 'a filter after words', bytes: data(candidate([{ text: 'The' }]), candidate([], { finishReason: 'SAFETY' })), says: { text: 'The', finish: 'refused' } },
  {
    name: 'a call it could not write', bytes: data({ candidates: [{ index: 0, content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'call:get_weather{' }] }), says: { error: /MALFORMED_FUNCTION_CALL/ },
    differs: { why: 'the SDK hands the reason on; for us it is an error that may be asked again', theirs: { text: '', calls: [], finish: 'MALFORMED_FUNCTION_CALL' } },
  },
  {
    name: 'a blocked question', bytes: data({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 8, totalTokenCount: 8 } }), says: { text: '', calls: [], finish: 'refused' },
    differs: { why: 'the SDK hands the feedback on; for us it is the end', theirs: { text: '', finish: null } },
  },
  { name: 'an error in the stream', bytes: data(candidate([{ text: 'The' }]), { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } }), says: { error: true } },
  {
    name: 'a list, where events were asked for', bytes: JSON.stringify([candidate([{ text: 'Checking both.' }]), candidate([osloCall, timeCall], END)]), says: TWO,
    differs: { why: 'the SDK asks for events and reads nothing else', theirs: { error: /Incomplete JSON/ } },
  },
  { name: 'the last event without its empty line', bytes: data(candidate([{ text: 'Hi.' }], END)).trimEnd(), says: { text: 'Hi.', finish: 'done' }, differs: { why: 'the SDK takes it for cut', theirs: { error: /Incomplete JSON/ } } },
  { name: 'a comment before data', bytes: `: keep-alive\ndata: ${JSON.stringify(candidate([{ text: 'Hi.' }], END))}\n\n`, says: { text: 'Hi.', finish: 'done' }, differs: { why: 'the SDK drops an event that does not begin with data', theirs: { text: '', finish: null } } },
  { name: 'code that ran there', bytes: data(candidate([{ executableCode: { language: 'PYTHON', code: '1+1' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } }, { text: 'Two.' }], END)), says: { text: 'Two.', calls: [], finish: 'done' } },
  { name: 'cut before a reason', bytes: data(candidate([{ text: 'The' }]), candidate([osloCall])), says: { text: 'The', calls: [], finish: null }, differs: { why: 'the SDK keeps the call; the loop lets go of what an unfinished answer asked for', theirs: { calls: [OSLO], finish: null } } },
  {
    name: 'tokens of thoughts and tools', bytes: data({ ...candidate([{ text: 'Hi.' }], END), usageMetadata: { promptTokenCount: 80, cachedContentTokenCount: 16, candidatesTokenCount: 31, thoughtsTokenCount: 40, toolUsePromptTokenCount: 5, totalTokenCount: 156 } }),
    says: { usage: { input: 85, output: 71, cached: 16, reasoning: 40 } },
  },
];

// ---- Interactions ----

const opened = { event_type: 'interaction.created', event_id: 'e1', interaction: { id: '', status: 'in_progress' } };
const step = (index, first, ...deltas) => [{ event_type: 'step.start', index, step: first }, ...deltas.map((delta) => ({ event_type: 'step.delta', index, delta })), { event_type: 'step.stop', index }];
const ended = (status, more = {}) => [{ event_type: 'interaction.completed', interaction: { id: '', status, ...more } }, 'event: done\ndata: [DONE]\n\n'];
const output = (index, ...list) => step(index, { type: 'model_output', content: [] }, ...list.map((one) => ({ type: 'text', text: one })));
const asks = (index, id, name, ...list) => step(index, { type: 'function_call', id, name, arguments: {} }, ...list.map((one) => ({ type: 'arguments_delta', arguments: one })));

const INTERACTIONS = [
  {
    name: 'a thought, words and two calls',
    bytes: sse(opened, ...step(0, { type: 'thought' }, { type: 'thought_summary', content: { type: 'text', text: 'Two tools.' } }, { type: 'thought_signature', signature: 'QUJD' }), ...output(1, 'Checking', ' both.'), ...asks(2, 'call_a', 'get_weather', '{"city":', '"Oslo"}'), ...asks(3, 'call_b', 'get_time', '{"zone":"Europe/Oslo"}'), ...ended('requires_action', { usage: { total_input_tokens: 80, total_output_tokens: 31, total_thought_tokens: 40, total_tokens: 151 } })),
    says: { ...TWO, reasoning: 'Two tools.', usage: { input: 80, output: 71, cached: 0, reasoning: 40 } },
  },
  { name: 'arguments whole at the start of their step', bytes: sse(opened, ...step(0, { type: 'function_call', id: 'call_a', name: 'get_weather', arguments: { city: 'Oslo' } }), ...ended('requires_action')), says: { calls: [OSLO] } },
  { name: 'a call without arguments', bytes: sse(opened, ...asks(0, 'call_a', 'list_open'), ...ended('requires_action')), says: { calls: [{ id: 'call_a', name: 'list_open', arguments: {} }] } },
  { name: 'an error in the stream', bytes: sse(opened, ...output(0, 'The'), { event_type: 'error', error: { code: 'gateway_timeout', message: 'Too late.' } }), says: { error: true } },
  { name: 'failed', bytes: sse(opened, ...ended('failed')), says: { error: true } },
  { name: 'cut by the limit of tokens', bytes: sse(opened, ...output(0, 'The'), ...ended('incomplete')), says: { text: 'The', finish: 'length' } },
  { name: 'a search of its own', bytes: sse(opened, ...step(0, { type: 'google_search_call', id: 'gs1', arguments: { queries: ['Oslo'] }, signature: 'QUJD' }), ...step(1, { type: 'google_search_result', call_id: 'gs1', result: [], signature: 'QUJD' }), ...output(2, 'Cold.'), ...ended('completed')), says: { text: 'Cold.', calls: [], finish: 'done' } },
  { name: 'an event nobody knows', bytes: sse(opened, { event_type: 'interaction.sparkle' }, ...output(0, 'Hi.'), ...ended('completed')), says: { text: 'Hi.', finish: 'done' } },
  { name: 'cut before its end', bytes: sse(opened, ...output(0, 'The')), says: { text: 'The', finish: null } },
  { name: 'no mark behind the end', bytes: sse(opened, ...output(0, 'Hi.'), ended('completed')[0]), says: { text: 'Hi.', finish: 'done' } },
];

// ---- Ollama ----

const line = (more, end = {}) => ({ model: 'small', created_at: '2026-11-30T10:00:00Z', message: { role: 'assistant', content: '', ...more }, done: false, ...end });
const last = (more = {}) => line({}, { done: true, done_reason: 'stop', prompt_eval_count: 80, eval_count: 31, ...more });

const OLLAMA = [
  {
    name: 'words and two calls',
    bytes: ndjson(line({ content: 'Checking both.' }), line({ tool_calls: [{ id: 'call_a', function: { index: 0, name: 'get_weather', arguments: { city: 'Oslo' } } }] }), line({ tool_calls: [{ id: 'call_b', function: { index: 0, name: 'get_time', arguments: { zone: 'Europe/Oslo' } } }] }), last()),
    says: { ...TWO, usage: { input: 80, output: 31, cached: 0, reasoning: 0 } },
  },
  { name: 'no ids', bytes: ndjson(line({ tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Oslo' } } }, { function: { name: 'get_weather', arguments: { city: 'Rome' } } }] }), last()), says: { calls: [{ ...OSLO, id: null }, { ...OSLO, id: null, arguments: { city: 'Rome' } }] } },
  { name: 'thoughts', bytes: ndjson(line({ thinking: 'Two ' }), line({ thinking: 'tools.' }), line({ content: 'Hi.' }), last()), says: { text: 'Hi.', reasoning: 'Two tools.', finish: 'done' } },
  { name: 'the limit of tokens', bytes: ndjson(line({ content: 'The' }), last({ done_reason: 'length' })), says: { text: 'The', finish: 'length' } },
  { name: 'an error in the stream', bytes: ndjson(line({ content: 'The' }), { error: 'out of memory' }), says: { error: true } },
  { name: 'the last line without its end', bytes: ndjson(line({ content: 'Hi.' }), last()).trimEnd(), says: { text: 'Hi.', finish: 'done' } },
  { name: 'a model that is loaded instead', bytes: ndjson(last({ done_reason: 'load' })), says: { error: /load/ }, differs: { why: 'the SDK hands the reason on; no answer came', theirs: { text: '', calls: [] } } },
  {
    name: 'cut before its end', bytes: ndjson(line({ content: 'The' })), says: { text: 'The', finish: null },
    differs: { why: 'the SDK says by an error that the stream was cut', theirs: { error: true } },
  },
];

const of = (api, list) => list.map((one) => ({ api, ...one }));

export const COMPOSED = [
  ...of('openai_chat', CHAT), ...of('openai_responses', RESPONSES), ...of('anthropic', ANTHROPIC), ...of('gemini', GEMINI),
  ...of('gemini_interactions', INTERACTIONS), ...of('ollama', OLLAMA),
];

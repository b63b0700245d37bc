// Event streams in every form that the standard allows: our splitter finds what eventsource-parser finds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParser } from 'eventsource-parser';
import { read } from './support/codec.mjs';
import { Random } from './support/random.mjs';

const COUNT = Number(process.env.PAGEHAND_PARTIES_COUNT ?? 150) * 2;
const SEED = Number(process.env.PAGEHAND_PARTIES_SEED ?? 1);

/** An event stream of `texts`, each in an event of its own, with all that may stand around it. */
function stream(random, texts) {
  const ends = random.one([['\n'], ['\r\n'], ['\r'], ['\n', '\r\n', '\r']]);
  let out = random.often(0.2) ? '\ufeff' : '';
  let last = '';
  const line = (text) => {
    let end = random.one(ends);
    // A CR and the LF of the next, empty line would be one end.
    if (text === '' && last === '\r' && end === '\n') end = '\r';
    out += text + end;
    last = end;
  };
  const noise = () => {
    if (random.often(0.2)) line(random.one([': keep-alive', ':', 'retry: 3000', 'id: 7', 'id', 'unknown: field', 'data-x: no', ' data: not a field', 'DATA: nor this', 'event: message', 'event']));
  };
  for (const text of texts) {
    noise();
    const lines = text.split('\n');
    for (const one of lines) {
      line(`data:${random.often(0.8) ? ' ' : ''}${one}`);
      noise();
    }
    line('');
    if (random.often(0.2)) line('');
    if (random.often(0.1)) (line('event: empty'), line(''));
  }
  return out;
}

function chunks(random) {
  const chunk = (delta, finish_reason = null) => {
    const value = { choices: [{ index: 0, delta, finish_reason }] };
    return random.often(0.3) ? JSON.stringify(value, null, random.between(0, 3)) : random.written(value);
  };
  const pieces = Array.from({ length: random.between(1, 6) }, () => chunk({ content: random.text(6) }));
  return [...pieces, chunk({}, 'stop'), '[DONE]'];
}

function theirs(bytes, random) {
  let text = '';
  let done = false;
  const parser = createParser({
    onEvent({ data }) {
      if (done || data === '[DONE]') return void (done = true);
      if (data.trim()) text += JSON.parse(data).choices[0].delta.content ?? '';
    },
  });
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + random.between(1, 60));
    parser.feed(decoder.decode(bytes.subarray(at, end), { stream: true }));
    at = end;
  }
  return { text, done };
}

test(`${COUNT} event streams are split as eventsource-parser splits them`, async () => {
  for (let at = 0; at < COUNT; at += 1) {
    const random = new Random(SEED * 7_000_003 + at);
    const bytes = Buffer.from(stream(random, chunks(random)));
    const { text, done } = theirs(bytes, random);
    const said = await read('openai_compatible', bytes);
    const where = `seed ${SEED}, stream ${at}: ${JSON.stringify(bytes.toString())}`;
    assert.equal(done, true, `eventsource-parser finds no end; ${where}`);
    assert.equal(said.error, null, where);
    assert.equal(said.text, text, where);
    assert.equal(said.finish, 'done', where);
  }
});

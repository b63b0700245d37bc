// What goes back: an answer that we have read and write again is the answer that the SDK of its API would send back itself,
// signatures, encrypted thoughts and all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOOLS, read, request, write } from './support/codec.mjs';
import { COMPOSED } from './support/composed.mjs';
import { answer, stream } from './support/generate.mjs';
import { whole } from './support/parties.mjs';
import { Random } from './support/random.mjs';
import { serving } from './support/server.mjs';
import { results, user } from './support/threads.mjs';

const COUNT = Number(process.env.PAGEHAND_PARTIES_COUNT ?? 150);
const SEED = Number(process.env.PAGEHAND_PARTIES_SEED ?? 1);

const plain = (value) => JSON.parse(JSON.stringify(value));

const APIS = {
  anthropic: {
    ours: (body) => body.messages.filter((message) => message.role === 'assistant').flatMap((message) => message.content),
    // Empty texts are refused there; and thoughts without a signature mean nothing.
    theirs: (content) => {
      const says = (block) => (block.type === 'text' ? /\P{White_Space}/u.test(block.text) || block.citations?.length : block.type !== 'thinking' || block.signature);
      const list = content.filter(says);
      // Thoughts alone are no answer.
      return list.some((block) => !/thinking$/.test(block.type)) ? list : [];
    },
    same: (block) => (block.citations?.length === 0 ? { ...block, citations: undefined } : block),
  },
  openai_responses: {
    ours: (body) => body.input.filter((item) => item.role !== 'user' && item.type !== 'function_call_output'),
    // Thoughts go back by what is encrypted of them, and not as the last of an answer; what stands behind one that can not
    // goes without its id, which is refused there (the SDK sends it).
    theirs: (items) => {
      let lost = false;
      const kept = items.map((item) => {
        lost ||= item.type === 'reasoning' && !item.encrypted_content;
        return lost && /^(message|function_call)$/.test(item.type) ? { ...item, id: undefined } : item;
      });
      const list = kept.filter((item) => item.type !== 'reasoning' || item.encrypted_content);
      while (list.at(-1)?.type === 'reasoning') list.pop();
      return list;
    },
    // What the SDK adds for its user; and arguments, which are JSON in whatever spelling.
    same: ({ parsed_arguments, arguments: text, content, ...item }) => ({
      ...item, ...(text === undefined ? {} : { arguments: JSON.parse(text || '{}') }), ...(content ? { content: content.map(({ parsed, ...part }) => part) } : {}),
    }),
  },
  gemini: {
    ours: (body) => body.contents.filter((content) => content.role === 'model').flatMap((content) => content.parts),
    theirs: (contents) => contents.flatMap((content) => content.parts ?? []),
    same: ({ functionCall, ...part }) => ({ ...part, ...(functionCall ? { functionCall: { args: {}, ...functionCall } } : {}) }),
    // Pieces of one text are one text, unless one is signed; thoughts that are not need not go back.
    all: (parts) => parts.reduce((list, part) => {
      const bare = (one) => one && Object.keys(one).every((name) => name === 'text');
      if (part.thought && !part.thoughtSignature) return list;
      if (bare(part) && !part.text) return list;
      if (bare(part) && bare(list.at(-1))) return [...list.slice(0, -1), { text: list.at(-1).text + part.text }];
      return [...list, part];
    }, []),
  },
};

async function compare(api, bytes, where) {
  const said = await read(api, bytes);
  if (said.error || !said.finish || !said.messages?.length) return false;
  const { ours, theirs, same, all = (list) => list } = APIS[api];
  const sdk = await serving(bytes, {}, (url) => whole(api, url));
  if (sdk.error || !sdk.again) return false;
  const { body, error } = await write(api, request([user('Weather?'), ...said.messages, ...results(said), user('And?')], { tools: TOOLS }));
  assert.equal(error, undefined, where);
  assert.deepEqual(plain(all(ours(body)).map(same)), plain(all(theirs(sdk.again)).map(same)), where);
  return true;
}

for (const api of Object.keys(APIS)) {
  test(`${api}: ${COUNT} answers by chance go back as they came`, async () => {
    for (let at = 0; at < COUNT; at += 1) {
      const random = new Random(SEED * 900_001 + at);
      const bytes = stream(api, random, answer(random, api));
      assert.ok(await compare(api, bytes, `seed ${SEED}, stream ${at}:\n${bytes}`));
    }
  });
  for (const { name, bytes, todo, differs } of COMPOSED.filter((one) => one.api === api && !one.differs)) {
    test(`${api}: ${name}: goes back as it came`, { todo }, async (t) => {
      if (!(await compare(api, bytes, name))) t.skip('nothing of it goes back');
    });
  }
}

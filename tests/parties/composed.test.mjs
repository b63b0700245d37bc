// Streams composed by hand: the SDK of each API and our decoder make the same of them. Where an SDK is known not to, the
// case says why, and what it makes of the stream instead.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from './support/codec.mjs';
import { COMPOSED } from './support/composed.mjs';
import { holds } from './support/holds.mjs';
import { ours, party } from './support/parties.mjs';
import { serving } from './support/server.mjs';

for (const { api, name, bytes, says, differs, todo } of COMPOSED) {
  test(`${api}: ${name}${differs ? ` (the SDK differs: ${differs.why})` : ''}`, { todo }, async () => {
    const type = api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream';
    const theirs = await serving(bytes, { type }, (url) => party(api, url));
    const our = ours(await read(api, bytes));
    holds(our, says, 'we');
    if (differs) return holds(theirs, differs.theirs, 'the SDK');
    if (says.error) return holds(theirs, says, 'the SDK');
    assert.deepEqual(our, theirs, 'the SDK reads it otherwise');
  });
}

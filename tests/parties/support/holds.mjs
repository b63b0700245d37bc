import assert from 'node:assert/strict';

/** Asserts what is wanted of an answer, as far as it is named; an error where one is wanted, none where none is. */
export function holds(said, wanted, who) {
  if (wanted.error) {
    assert.ok(said.error, `${who}: no error, but ${JSON.stringify(said)}`);
    if (wanted.error instanceof RegExp) assert.match(said.error, wanted.error, who);
    return;
  }
  assert.equal(said.error, undefined, who);
  for (const [name, value] of Object.entries(wanted)) assert.deepEqual(said[name], value, `${who}: ${name}`);
}

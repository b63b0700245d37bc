// node scripts/slim.mjs GLUE MODULE: makes what wasm-bindgen has written smaller, in place, before it is optimised.
//
// The names by which the glue and the module call each other are made short: they are long and full of hashes, which no
// compression shrinks. What a dependency exports and no page calls is left out, and with it the code behind it.
import { readFileSync, writeFileSync } from 'node:fs';

const [gluePath, modulePath] = process.argv.slice(2);
const [IMPORT, EXPORT] = [2, 7];
const [FUNCTION, TABLE, MEMORY, GLOBAL, TAG] = [0, 1, 2, 3, 4];

// Streams between JavaScript and Rust, of a crate that Leptos brings along for its servers.
const UNUSED = /^(__wbg_)?intounderlying/;
// What the loader (www/page-hand.js) reads by name: the memory, and the function by which it tells a trap.
const KEPT = /^(memory|__wbindgen_start)$|throw/;

const shorten = (prefix) => {
  const names = new Map();
  return (name) => {
    if (KEPT.test(name)) return name;
    if (!names.has(name)) names.set(name, prefix + names.size.toString(36));
    return names.get(name);
  };
};
const [importName, exportName] = [shorten('i'), shorten('e')];

const bytes = readFileSync(modulePath);
let at = 8;
let out = [bytes.subarray(0, at)];
let glue = readFileSync(gluePath, 'utf8');

while (at < bytes.length) {
  const id = bytes[at++];
  const end = number() + at;
  const body = id === IMPORT ? imports() : id === EXPORT ? exports() : bytes.subarray(at, end);
  out.push(Buffer.from([id]), leb(body.length), body);
  at = end;
}

glue = glue
  .replace(/^export class IntoUnderlying\w+ \{[\s\S]*?^\}\n(if \(Symbol\.dispose\) .*\n)?/gm, '')
  .replace(/^const IntoUnderlying\w+ = [\s\S]*?;\n/gm, '')
  .replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${exportName(name)}`)
  .replace(/^ {8}(\w+)(?=: )/gm, (_, name) => ' '.repeat(8) + importName(name))
  .replaceAll('"./pagehand_bg.js"', '"w"');

const left = glue.match(/\w*intounderlying\w*|\b__wbg_\w+_[0-9a-f]{16}\b/gi)?.filter((name) => !KEPT.test(name)) ?? [];
if (left.length) throw new Error(`${gluePath} is not as wasm-bindgen used to write it: ${left[0]} is left, which should be gone`);
writeFileSync(modulePath, Buffer.concat(out));
writeFileSync(gluePath, glue);

function imports() {
  const parts = [];
  const count = number();
  for (let left = count; left > 0; left -= 1) {
    const [module, name] = [text(), text()];
    const start = at;
    const kind = bytes[at++];
    if (kind === FUNCTION) number();
    else if (kind === TABLE) (at += 1, limits());
    else if (kind === MEMORY) limits();
    else if (kind === GLOBAL) at += 2;
    else if (kind === TAG) (at += 1, number());
    const isGlue = module.startsWith('./');
    parts.push(word(isGlue ? 'w' : module), word(isGlue ? importName(name) : name), bytes.subarray(start, at));
  }
  return Buffer.concat([leb(count), ...parts]);
}

function exports() {
  const parts = [];
  let kept = 0;
  for (let left = number(); left > 0; left -= 1) {
    const name = text();
    const start = at;
    at += 1;
    number();
    if (UNUSED.test(name)) continue;
    kept += 1;
    parts.push(word(exportName(name)), bytes.subarray(start, at));
  }
  return Buffer.concat([leb(kept), ...parts]);
}

function limits() {
  const hasMost = bytes[at++] & 1;
  number();
  if (hasMost) number();
}

// An unsigned number in LEB128.
function number() {
  let [value, shift] = [0, 0];
  for (;;) {
    const byte = bytes[at++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
    shift += 7;
  }
}

function leb(value) {
  const written = [];
  do {
    const byte = value % 128;
    value = Math.floor(value / 128);
    written.push(value > 0 ? byte + 128 : byte);
  } while (value > 0);
  return Buffer.from(written);
}

function text() {
  const length = number();
  at += length;
  return bytes.toString('utf8', at - length, at);
}

function word(value) {
  const encoded = Buffer.from(value);
  return Buffer.concat([leb(encoded.length), encoded]);
}

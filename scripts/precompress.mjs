// node scripts/precompress.mjs FOLDER: puts a `.br` beside every file worth compressing, once for all visitors.
// A `.br` that is there already is kept.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const WORTH_IT = /\.(wasm|js|css|html|svg)$/;

for (const name of readdirSync(process.argv[2], { recursive: true })) {
  const file = join(process.argv[2], name);
  if (!WORTH_IT.test(file) || existsSync(`${file}.br`)) continue;
  const bytes = readFileSync(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
}

// A model's server that nobody here wrote, as a process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = new URL('../node_modules/@copilotkit/aimock/dist/cli.js', import.meta.url).pathname;

/** @copilotkit/aimock with these fixtures; resolves when it answers. */
export async function startMock(port, fixtures, ...flags) {
  const folder = await mkdtemp(join(tmpdir(), 'pagehand-'));
  const file = join(folder, 'fixtures.json');
  await writeFile(file, JSON.stringify(fixtures));
  const child = spawn(process.execPath, [PROGRAM, '-p', String(port), '-h', '127.0.0.1', '-f', file, '--log-level', 'silent', ...flags], { stdio: 'ignore' });
  const gone = once(child, 'exit');
  for (;;) {
    const up = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true))).on('error', () => resolve(false));
    });
    if (up) break;
    if (child.exitCode !== null) throw new Error(`aimock ended with ${child.exitCode}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  return { stop: async () => (child.kill('SIGKILL'), await gone, rm(folder, { recursive: true })) };
}

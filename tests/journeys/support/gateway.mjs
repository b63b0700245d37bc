// The real gateway as a process: started on a free loopback port, killed or ended, its words kept.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

const PROGRAM = process.env.PAGEHAND_GATEWAY;
const SITE = process.env.PAGEHAND_SITE;

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a gateway over the demo shop; resolves when it listens. `pace` is the demo model's, 0 at once, 1 human. */
export async function startGateway({ port, pace = 0, env = {}, args = [] } = {}) {
  if (!PROGRAM || !SITE) throw new Error('PAGEHAND_GATEWAY and PAGEHAND_SITE name what is tested; scripts/test journeys sets them');
  port ??= await freePort();
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PAGEHAND_')));
  const child = spawn(PROGRAM, ['--port', String(port), '--demo', '--site', SITE, ...args], {
    env: { ...clean, RUST_LOG: 'debug', PAGEHAND_DEMO_PACE: String(pace), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gateway = {
    port,
    url: `http://127.0.0.1:${port}`,
    /** Everything it has printed. */
    output: '',
    /** Ends it at once, as a crash or a power cut would. */
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  };
  const listening = new Promise((resolve, reject) => {
    const keep = (data) => {
      gateway.output += data;
      if (gateway.output.includes('listening on http://')) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${gateway.output}`)));
  });
  await listening;
  return gateway;
}

async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

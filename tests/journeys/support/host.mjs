// Somebody else's site, of one origin with a real gateway behind it: its own pages first, everything else is passed on.

import { createServer, request as ask } from 'node:http';
import { readFile } from 'node:fs/promises';
import { startGateway } from './gateway.mjs';
import { listen } from './journey.mjs';

const HOSTS = new URL('../hosts/', import.meta.url);
const PACKAGES = new URL('../node_modules/', import.meta.url);
// What a gateway looks at to tell whose page asks. This site is the page's own.
const LEFT_OUT = /^(host|origin|referer|sec-fetch-.*)$/;

/**
 * Serves `pages` (by path: a text, or a function of the address that gives one), the files of `hosts/` under `/hosts/`
 * and of `node_modules` under `/packages/`. In a page of `hosts/` the element gets the attributes of the address's
 * query. `posted` has the body of every `POST /agent`; `env` and `pace` are for the gateway.
 */
export async function startHost({ pages = {}, env, pace } = {}) {
  const gateway = await startGateway({ pace, env });
  const posted = [];
  const server = await listen(createServer(async (request, response) => {
    const url = new URL(request.url, 'http://host');
    // A sandboxed frame has no origin at all.
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*');
    try {
      if (request.method === 'OPTIONS') return response.writeHead(204).end();
      if (url.pathname === '/favicon.ico') return response.writeHead(204).end();
      const own = await find(pages, url);
      if (own === undefined) return pass(gateway, request, response, posted);
      response.writeHead(200, { 'content-type': url.pathname.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8' }).end(own);
    } catch (error) {
      response.writeHead(error.code === 'ENOENT' ? 404 : 500, { 'content-type': 'text/plain' }).end(error.message);
    }
  }));
  const stop = async () => {
    await gateway.kill();
    await server.stop();
  };
  return { ...server, gateway, posted, stop };
}

async function find(pages, url) {
  const own = pages[url.pathname];
  if (own !== undefined) return typeof own === 'function' ? own(url) : own;
  if (url.pathname.startsWith('/packages/')) return readFile(new URL(url.pathname.slice('/packages/'.length), PACKAGES));
  if (!url.pathname.startsWith('/hosts/')) return undefined;
  const text = await readFile(new URL(url.pathname.slice('/hosts/'.length), HOSTS), 'utf8');
  const attributes = [...url.searchParams].map(([name, value]) => ` ${name}="${value}"`).join('');
  return text.replace('<page-hand gateway="/"', (tag) => tag + attributes);
}

function pass(gateway, request, response, posted) {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !LEFT_OUT.test(name)));
  const through = ask(new URL(request.url, gateway.url), { method: request.method, headers }, (answer) => {
    const kept = Object.entries(answer.headers).filter(([name]) => !/^(access-control-.*|content-security-policy)$/.test(name));
    response.writeHead(answer.statusCode, Object.fromEntries(kept));
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  through.on('error', () => response.destroy());
  response.on('close', () => through.destroy());
  if (request.method === 'POST' && request.url === '/agent') {
    let text = '';
    request.on('data', (data) => (text += data)).on('end', () => posted.push(JSON.parse(text)));
  }
  request.pipe(through);
}

/** Starts something when it is first wanted, once; `stop` ends it where it was. */
export function once(start) {
  let started;
  return {
    get: () => (started ??= start()),
    stop: async () => (await started)?.stop(),
  };
}

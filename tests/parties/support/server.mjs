// A loopback server that answers every request with the same bytes, in pieces as a network has them.

import { createServer } from 'node:http';

/** Serves bytes while `use(url)` runs; `requests` holds the bodies that came. */
export async function serving(bytes, { type = 'text/event-stream', random, status = 200 } = {}, use) {
  const body = Buffer.from(bytes);
  const requests = [];
  const server = createServer(async (request, response) => {
    const heard = [];
    for await (const chunk of request) heard.push(chunk);
    requests.push(Buffer.concat(heard).toString());
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache' });
    for (let at = 0; at < body.length; ) {
      const end = random ? Math.min(body.length, at + random.between(1, 400)) : body.length;
      response.write(body.subarray(at, end));
      at = end;
      if (random?.often(0.2)) await new Promise(setImmediate);
    }
    response.end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  try {
    return await use(`http://127.0.0.1:${server.address().port}`, requests);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

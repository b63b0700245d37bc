// The gateway goes away: in the middle of an answer, and before the page was opened.

import assert from 'node:assert/strict';
import { journey } from './support/journey.mjs';
import { freePort, startGateway } from './support/gateway.mjs';
import { isValid } from './support/thread.mjs';

// The browser's own words for a connection that was refused or cut.
const CONNECTION = /Failed to load resource: net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)|net::ERR_INCOMPLETE_CHUNKED_ENCODING/;

journey('the gateway is killed in mid-answer: the words stay, the banner says what to do, and Try again works once it is back', { pace: 0.3 }, async ({ hand, gateway, hold }) => {
  hand.expects(CONNECTION);
  await hand.open();
  const since = await hand.say('write a long answer');
  await hand.thread.getByText('nothing here was looked up', { exact: false }).waitFor();
  await gateway.kill();
  assert.equal(await hand.ended(since), 'error');

  const words = await hand.words();
  assert.match(words, /A long answer, to watch one arrive/);
  assert.match(words, /The answer broke off here/);
  const banner = hand.banner('The gateway can not be reached. Check that it is running and that you are online.');
  await banner.waitFor();
  assert.equal(hand.events.findLast((event) => event.type === 'error').detail.code, 'network');
  const again = banner.getByRole('button', { name: 'Try again' });
  await again.click();
  assert.equal(await hand.ended(hand.events.length - 1), 'error');
  await banner.waitFor();

  hold(await startGateway({ port: gateway.port, pace: 0 }));
  const retried = hand.events.length;
  await banner.getByRole('button', { name: 'Try again' }).click();
  assert.equal(await hand.ended(retried), 'completed');
  assert.equal(await banner.count(), 0);
  await hand.thread.getByRole('table').waitFor();
  hand.asked.forEach(isValid);
  assert.equal(hand.asked.at(-1).messages.length, 1, 'what broke off is not sent again');
});

journey('the gateway is killed in mid-answer and back soon: the panel counts down and goes on by itself', { pace: 0.3 }, async ({ page, hand, gateway, hold }) => {
  hand.expects(CONNECTION);
  await hand.open();
  const since = await hand.say('write a long answer');
  await hand.thread.getByText('nothing here was looked up', { exact: false }).waitFor();
  await gateway.kill();
  const waiting = page.locator('page-hand').getByRole('status').filter({ has: page.getByRole('button', { name: 'Try now' }) });
  await waiting.getByText(/It is tried again \(\d of 4\)/).waitFor();
  hold(await startGateway({ port: gateway.port, pace: 0 }));
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await waiting.count(), 0);
  // Not what is seen: the view is at the end of the thread.
  assert.match(await hand.thread.textContent(), /asked for again/);
  hand.asked.forEach(isValid);
  hand.asked.forEach((request) => assert.deepEqual(request.messages, hand.asked[0].messages));
});

journey('offline: a message is kept, said to be waiting, and goes out when the network is back', {}, async ({ page, hand }) => {
  hand.expects(/net::ERR_INTERNET_DISCONNECTED/);
  await hand.open();
  await page.context().setOffline(true);
  const since = await hand.say('where is order A-1042?');
  await hand.banner('You are offline; this goes on when you are back.').waitFor();
  await page.context().setOffline(false);
  assert.equal(await hand.ended(since), 'completed');
  assert.equal(await hand.banner('You are offline').count(), 0);
  hand.asked.forEach(isValid);
});

journey('the gateway is down when the panel opens: a notice says so, and sending works once it is up', { gateway: false }, async ({ page, hand, hold }) => {
  hand.expects(CONNECTION);
  const port = await freePort();
  // The page itself comes from elsewhere, or from a cache: here from a gateway that does not run the model.
  const site = hold(await startGateway());
  await page.route(`http://127.0.0.1:${port}/**`, (route) => route.continue());
  await page.route(`${site.url}/tools`, async (route) => (hold.up ? route.continue() : route.abort('connectionrefused')));
  await page.goto(site.url);
  await hand.open();
  await hand.banner('The gateway can not be reached.').waitFor();
  hold.up = true;
  assert.equal(await hand.ask('where is order A-1042?'), 'completed');
  await hand.shows('order_status', 'result-available');
  assert.equal(await hand.banner('The gateway can not be reached.').count(), 0);
});

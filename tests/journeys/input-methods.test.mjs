// Who writes Japanese, Chinese, Korean, or a letter with an accent, uses Enter and Escape to talk to their input method.
// Neither is for the panel then, nor for the page.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { once, startHost } from './support/host.mjs';
import { journey } from './support/journey.mjs';
import { last, startModel } from './support/model.mjs';

const model = once(() => startModel((body) => (JSON.stringify(last(body).content).includes('wait') ? new Promise(() => {}) : { text: 'hello' })));
const host = once(async () => startHost({ env: (await model.get()).env }));
after(async () => {
  await host.stop();
  await model.stop();
});

const bare = { gateway: false };
const PATIENCE_MS = 10_000;
const element = (page, work, given) => page.locator('page-hand').evaluate(work, given);

async function open(page, hand, placement = 'docked') {
  const { url, posted } = await host.get();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${url}/hosts/shortcuts.html?placement=${placement}`);
  await page.getByRole('button', { name: 'Assistant', exact: true }).click();
  await hand.composer.click();
  const before = posted.length;
  return {
    // What was sent since then.
    sent: () => posted.slice(before).map(({ messages }) => messages.findLast(({ role }) => role === 'user').content),
    // The page's shortcuts that were set off since it was last asked.
    fired: () => page.evaluate(() => window.fired.splice(0)),
  };
}

// The input method of the system, as Chromium has it from there.
async function inputMethod(page) {
  const chrome = await page.context().newCDPSession(page);
  // A key that goes through the input method has the code 229, whatever it is.
  const key = async (name) => {
    const code = name.length === 1 ? `Key${name.toUpperCase()}` : name;
    await chrome.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: name, code, windowsVirtualKeyCode: 229, nativeVirtualKeyCode: 229 });
    return () => chrome.send('Input.dispatchKeyEvent', { type: 'keyUp', key: name, code, windowsVirtualKeyCode: 229, nativeVirtualKeyCode: 229 });
  };
  return {
    /** What is not settled yet, after a key. */
    async composes(text, by) {
      const up = await key(by);
      await chrome.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
      await up();
    },
    /** A key settles it. */
    async settles(text, by) {
      const up = await key(by);
      await chrome.send('Input.insertText', { text });
      await up();
    },
    /** A key gives it up. */
    async givesUp(by) {
      const up = await key(by);
      await chrome.send('Input.imeSetComposition', { text: '', selectionStart: 0, selectionEnd: 0 });
      await up();
    },
  };
}

const WRITES = {
  Japanese: {
    steps: [['ｎ', 'n'], ['に', 'i'], ['にほ', 'o'], ['にほん', 'n'], ['にほんご', 'o'], ['日本語', ' '], ['二本後', ' '], ['日本語', ' ']],
    words: '日本語',
  },
  Chinese: { steps: [['n', 'n'], ['ni', 'i'], ["ni'h", 'h'], ["ni'hao", 'o']], words: '你好' },
  // Enter settles the Latin letters as they are.
  'Latin letters in a Chinese input method': { steps: [['o', 'o'], ['ok', 'k']], words: 'ok' },
  Korean: { steps: [['ㅎ', 'h'], ['하', 'a'], ['한', 'n']], words: '한' },
  'a dead key that comes to nothing': { steps: [['´', 'Dead']], words: '´' },
};

for (const [language, { steps, words }] of Object.entries(WRITES)) {
  journey(`${language}: the Enter that settles what was written does not send it, the next one does`, bare, async ({ page, hand }) => {
    const { sent, fired } = await open(page, hand);
    const method = await inputMethod(page);
    for (const [text, by] of steps) await method.composes(text, by);
    await method.settles(words, 'Enter');
    assert.equal(await hand.composer.inputValue(), words);
    await hand.painted();
    assert.deepEqual(sent(), []);
    await page.keyboard.type('!');
    await page.keyboard.press('Enter');
    await hand.heard('run-end', () => true, 0, PATIENCE_MS);
    assert.deepEqual(sent(), [`${words}!`]);
    assert.equal(await hand.composer.inputValue(), '');
    assert.deepEqual(await fired(), [], 'the page heard nothing of it');
  });
}

journey('a letter with an accent, by a dead key, stands in the message once', bare, async ({ page, hand }) => {
  const { sent } = await open(page, hand);
  const method = await inputMethod(page);
  await page.keyboard.type('caf');
  await method.composes('´', 'Dead');
  await method.settles('é', 'e');
  assert.equal(await hand.composer.inputValue(), 'café');
  await page.keyboard.press('Enter');
  await hand.heard('run-end', () => true, 0, PATIENCE_MS);
  assert.deepEqual(sent(), ['café']);
});

journey('Korean, where the same Enter comes twice: the first settles the syllable, the second sends it, once', bare, async ({ page, hand }) => {
  const { sent } = await open(page, hand);
  const method = await inputMethod(page);
  await method.composes('ㄱ', 'r');
  await method.composes('그', 'm');
  await method.composes('글', 'f');
  await method.settles('글', 'Enter');
  await page.keyboard.press('Enter');
  await hand.heard('run-end', () => true, 0, PATIENCE_MS);
  await hand.painted();
  assert.deepEqual(sent(), ['글']);
  assert.equal(await hand.composer.inputValue(), '', 'and nothing of it is left');
});

// The events of a composition as Safari sends them: its end comes before the key that ended it, which then says nothing
// of a composition but its code.
const asInSafari = (page, key, text) => element(page, (element, [key, text]) => {
  const area = element.shadowRoot.querySelector('.composer textarea');
  const send = (Kind, type, more) => area.dispatchEvent(new Kind(type, { bubbles: true, composed: true, cancelable: true, ...more }));
  area.focus();
  send(CompositionEvent, 'compositionstart', { data: '' });
  for (const data of [text.slice(0, 1), text]) {
    send(CompositionEvent, 'compositionupdate', { data });
    area.value = data;
    send(InputEvent, 'input', { data, inputType: 'insertCompositionText', isComposing: true });
  }
  const settled = key === 'Escape' ? '' : text;
  area.value = settled;
  send(InputEvent, 'input', { data: settled, inputType: 'insertFromComposition' });
  send(CompositionEvent, 'compositionend', { data: settled });
  const more = { key, code: key, keyCode: 229, which: 229, isComposing: false };
  send(KeyboardEvent, 'keydown', more);
  send(KeyboardEvent, 'keyup', { ...more, keyCode: key === 'Enter' ? 13 : 27 });
}, [key, text]);

for (const [language, words] of Object.entries({ Japanese: '東京', Chinese: '你好', Korean: '한글', 'a dead key': 'ê' })) {
  journey(`${language} in Safari: the Enter that ended the composition a moment ago does not send, the next one does`, bare, async ({ page, hand }) => {
    const { sent, fired } = await open(page, hand);
    await asInSafari(page, 'Enter', words);
    await hand.painted();
    assert.deepEqual(sent(), []);
    assert.equal(await hand.composer.inputValue(), words);
    await page.keyboard.press('Enter');
    await hand.heard('run-end', () => true, 0, PATIENCE_MS);
    assert.deepEqual(sent(), [words]);
    assert.deepEqual(await fired(), []);
  });
}

for (const placement of ['docked', 'floating']) {
  for (const browser of ['Chromium', 'Safari']) {
    journey(`Escape that gives up a composition, in ${browser}, stops no run and closes no ${placement} panel, and the page does not hear of it`, bare, async ({ page, hand }) => {
      const { fired } = await open(page, hand, placement);
      const giveUp = browser === 'Safari' ? () => asInSafari(page, 'Escape', 'にほ') : async () => {
        const method = await inputMethod(page);
        await method.composes('に', 'i');
        await method.composes('にほ', 'o');
        await method.givesUp('Escape');
      };
      const isOpen = () => element(page, (element) => element.isOpen);
      await giveUp();
      await hand.painted();
      assert.equal(await isOpen(), true, 'with nothing at work');

      const since = hand.events.length;
      await element(page, (element) => element.send('wait'));
      await hand.button('Stop').waitFor();
      await hand.composer.focus();
      await giveUp();
      await hand.painted();
      assert.equal(await isOpen(), true, 'with a run at work');
      assert.equal(await hand.button('Stop').count(), 1, 'the run goes on');
      assert.deepEqual(await fired(), []);

      await page.keyboard.press('Escape');
      assert.equal((await hand.heard('run-end', () => true, since, PATIENCE_MS)).detail.reason, 'stopped');
      assert.equal(await isOpen(), true);
      await page.keyboard.press('Escape');
      assert.equal(await isOpen(), placement === 'docked');
    });
  }
}

// Solid, without its compiler: on an element with a hyphen everything is a property.
import h from 'solid-js/h';
import { createSignal } from 'solid-js';
import { render } from 'solid-js/web';

const [open, setOpen] = createSignal(false);
const [ended, setEnded] = createSignal(0);

render(() => [
  h('button', { onClick: () => setOpen(!open()) }, 'Toggle'),
  h('output', {}, ended),
  h('page-hand', {
    gateway: '/', label: 'Ask us', placement: 'floating', theme: 'dark', instructions: 'Be kind.', open: () => open(),
    'on:pagehand-run-end': () => setEnded(ended() + 1),
  }),
], document.querySelector('#app'));

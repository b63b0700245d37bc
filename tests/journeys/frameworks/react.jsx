// React 19, strict: properties by name, a listener, and a list whose order changes.
import { StrictMode, useState } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';

export function App() {
  const [open, setOpen] = useState(false);
  const [ended, setEnded] = useState(0);
  const [first, setFirst] = useState(true);
  const hand = (
    <page-hand key="hand" gateway="/" label="Ask us" placement="floating" theme="dark" instructions="Be kind." open={open}
      onpagehand-run-end={() => setEnded((count) => count + 1)} />
  );
  const words = <p key="words">Some words</p>;
  return (
    <main>
      <button onClick={() => setOpen((now) => !now)}>Toggle</button>
      <button onClick={() => setFirst((now) => !now)}>Move</button>
      <output>{ended}</output>
      <section>{first ? [hand, words] : [words, hand]}</section>
    </main>
  );
}

// Where the server rendered it, it is taken up; there is no document on the server.
if (globalThis.document) {
  const root = document.querySelector('#app');
  const app = <StrictMode><App /></StrictMode>;
  if (root.firstElementChild) hydrateRoot(root, app);
  else createRoot(root).render(app);
}

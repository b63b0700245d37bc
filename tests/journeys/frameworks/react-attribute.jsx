// React 19, with the element open as markup says it.
import { createRoot } from 'react-dom/client';

createRoot(document.querySelector('#app')).render(<page-hand open gateway="/" label="Ask us" placement="floating" />);

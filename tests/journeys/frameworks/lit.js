// Lit 3, with properties: what it sets before the element is defined are fields of the element's own.
import { html, LitElement } from 'lit';

class HostApp extends LitElement {
  static properties = { open: { state: true }, ended: { state: true } };

  constructor() {
    super();
    this.open = false;
    this.ended = 0;
  }

  createRenderRoot() { return this; }

  render() {
    return html`
      <button @click=${() => (this.open = !this.open)}>Toggle</button>
      <output>${this.ended}</output>
      <page-hand gateway="/" .label=${'Ask us'} .placement=${'floating'} .theme=${'dark'} .instructions=${'Be kind.'} .open=${this.open}
        @pagehand-run-end=${() => (this.ended += 1)}></page-hand>`;
  }
}

customElements.define('host-app', HostApp);
document.querySelector('#app').append(document.createElement('host-app'));

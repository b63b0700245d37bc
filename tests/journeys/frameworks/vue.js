// Vue 3, with a template.
import { createApp } from 'vue/dist/vue.esm-bundler.js';

const app = createApp({
  data: () => ({ open: false, ended: 0, label: 'Ask us', instructions: 'Be kind.' }),
  template: `
    <button @click="open = !open">Toggle</button>
    <output>{{ ended }}</output>
    <page-hand gateway="/" :label="label" :placement="'floating'" :theme="'dark'" :instructions="instructions" :open="open"
      @pagehand-run-end="ended += 1"></page-hand>`,
});
app.config.compilerOptions.isCustomElement = (tag) => tag === 'page-hand';
app.mount('#app');

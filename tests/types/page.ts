// A page as an integrator writes it, held against the contract: compiled, never run.
import type { CallState, PageHand, PageHandError, Tool } from '../../www/types';

const hand: PageHand = document.querySelector('page-hand')!;

const assign: Tool<{ to: string; urgent?: boolean }> = {
  name: 'ticket_assign',
  owner: 'helpdesk',
  risk: 'write',
  description: 'Assigns the ticket on screen to a colleague, by name.',
  parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  approval: 'always',
  timeoutMs: 5000,
  async run({ to, urgent }, { callId, signal, approved }) {
    const answer = await fetch(`/assign/${to}`, { signal, headers: { 'idempotency-key': callId } });
    return { ok: answer.ok, urgent: urgent ?? false, approved };
  },
};

export async function start(): Promise<void> {
  try {
    await hand.registerTool(assign);
  } catch (error) {
    const code: PageHandError['code'] = (error as PageHandError).code;
    console.error(code);
  }
  hand.placement = 'floating';
  hand.modelUrl = 'http://localhost:11434';
  hand.open = true;
  hand.theme = 'dark';
  await hand.open();
  await hand.send('Assign this to Maya');
  const scopes: ('browser' | 'server')[] = hand.tools.map((tool) => tool.scope);
  console.log(scopes, hand.threadId?.length, hand.isOpen);
  const gone: boolean = await hand.unregisterTool('ticket_assign');
  console.log(gone);
}

hand.addEventListener('pagehand-tool-call', ({ detail }) => {
  const state: CallState = detail.state;
  if (state === 'failed') console.warn(detail.name, detail.scope ?? 'unknown');
});

hand.addEventListener('pagehand-navigate', (event) => {
  event.preventDefault();
  event.detail.waitUntil(Promise.resolve(event.detail.url));
});

// @ts-expect-error a tool without a risk is refused
void hand.registerTool({ name: 'some_tool', owner: 'shop', description: 'Too short', run: () => null });
// @ts-expect-error there is no such placement
hand.placement = 'left';

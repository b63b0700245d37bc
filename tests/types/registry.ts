// Tools, toolsets, policy and callbacks as an integrator writes them, held against the contract: compiled, never run.
import type { FromSchema, PageHand, PolicyRule, RegistryReport, Toolset } from '../../www/types';

const hand: PageHand = document.querySelector('page-hand')!;

const order = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    count: { type: 'integer' },
    speed: { enum: ['slow', 'fast'] },
    tags: { type: 'array', items: { type: 'string' } },
    note: { type: ['string', 'null'] },
  },
  required: ['id', 'speed'],
} as const;

const typed: FromSchema<typeof order> = { id: 'A', speed: 'fast', tags: ['x'], note: null };
const count: number | undefined = typed.count;
// @ts-expect-error a speed that the schema does not list
const wrong: FromSchema<typeof order> = { id: 'A', speed: 'warp' };
// @ts-expect-error a required field is missing
const short: FromSchema<typeof order> = { id: 'A' };
console.log(count, wrong, short);

void hand.registerTool({
  name: 'order_ship',
  owner: 'shop',
  risk: 'write',
  replay: 'idempotent',
  description: 'Ships an order of the shop at the given speed and returns its parcel.',
  parameters: order,
  longRunning: true,
  label: { en: 'Ship', de: 'Versenden' },
  profiles: ['support'],
  requires: { role: ['admin'] },
  aliases: ['order_send', { name: 'ship_order', offered: true }],
  run({ id, speed, count }, context) {
    const words: 'slow' | 'fast' = speed;
    context.state.set('last', id);
    context.progress(0.5, words);
    if (!context.approved) return context.requestApproval('Really?', { id });
    context.startJob(`ship-${id}`);
    context.signal.addEventListener('abort', () => context.log('stopped'));
    setTimeout(() => context.complete({ id, count: (count ?? 1) + 1 }), 1000);
    return { status: 'packing', before: context.state.get('last') };
  },
  editRequest: ({ tools }) => ({ context: [{ description: 'Tools', value: tools.join() }] }),
});

const rules: PolicyRule[] = [
  { when: { risk: ['write', 'irreversible'], arguments: 'tool' }, then: 'ask', reason: 'These values were read by a tool.' },
  { when: { state: { 'user:tier': 'free' } }, then: 'refuse', reason: 'This is not part of your plan.' },
];

export async function start(): Promise<void> {
  const toolset: Toolset = { name: 'cart', owner: 'shop', tools: [], resolve: (facts) => facts.page === 'cart' };
  const { close } = await hand.registerToolset(toolset);
  await hand.definePolicy(rules);
  await hand.setFacts({ role: 'admin', page: 'cart' });
  await hand.setLimits({ maxSteps: 8, maxTokens: 200_000 });
  await hand.setUser({ id: 'u1' });
  await hand.setMemory(async (words, limit) => [words].slice(0, limit));
  await hand.registerEditor({ name: 'house_style', owner: 'shop', edit: () => ({ instructions: 'Be brief.' }) });
  const { remove } = hand.on('before-tool', ({ name }) => (name === 'order_ship' ? { result: null } : undefined));
  hand.on('error', (heard) => (heard.model ? { text: heard.model.message } : undefined));
  await hand.complete('call', { error: { message: 'It broke.', retryable: true } });
  await hand.decide('call', { approve: true, payload: { yes: 1 } });
  const report: RegistryReport | null = hand.registry.report();
  console.log(report?.profiles.map((profile) => profile.tokens), await close(), await remove());
}

// @ts-expect-error there is no such moment
hand.on('before-lunch', () => undefined);
// @ts-expect-error there is no such limit
void hand.setLimits({ maxTurns: 8 });
// @ts-expect-error a rule without an outcome
void hand.definePolicy([{ when: { risk: 'read' } }]);

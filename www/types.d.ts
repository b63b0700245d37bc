/**
 * What a page can say to `<page-hand>` and hear from it.
 *
 * @example
 * const hand = document.querySelector('page-hand')!;
 * await hand.registerTool({
 *   name: 'cart_count', owner: 'shop', risk: 'read',
 *   description: 'Counts the articles in the shopping cart of this page.',
 *   run: () => ({ count: cart.length }),
 * });
 */

/** What a tool may change. `write` asks the user once a session, `irreversible` always. */
export type Risk = 'read' | 'write' | 'irreversible';

/** Where a tool runs. What a page registers runs in the page. */
export type Scope = 'browser' | 'server';

/** Any JSON. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A tool's arguments: an object that fits its `parameters`. */
export type Arguments = { [key: string]: Json };

/** What a call brings beside its arguments. */
export interface ToolContext {
  /** The call: its idempotency key. */
  readonly callId: string;
  /** Whether the user agreed to this very call. */
  readonly approved: boolean;
  /** Aborted when the call is cancelled or takes too long. */
  readonly signal: AbortSignal;
}

/** A tool that runs in the page. */
export interface Tool<A extends object = Arguments> {
  /** `^[a-z][a-z0-9_]{2,63}$` */
  name: string;
  /** What it is for, to a model: what it does, when to use it, what comes back. At least 40 characters. */
  description: string;
  /** JSON Schema of the arguments; its root is an object. Absent: no arguments. */
  parameters?: object;
  /** What it may change. */
  risk: Risk;
  /** Who answers for it. */
  owner: string;
  /** `"1"` where absent. */
  version?: string;
  /** What a person reads on its card; the name in words where absent. */
  label?: string;
  /** When the user is asked: as the risk says (where absent), or always. */
  approval?: 'risk' | 'always';
  /** How long a call may take, in milliseconds; 60,000 where absent. */
  timeoutMs?: number;
  /** Runs it. Returns (or resolves to) anything JSON can say; what it throws, the model reads. */
  run(args: A, context: ToolContext): unknown;
}

/** A definition as the registry has it. */
export interface ToolDefinition {
  readonly name: string;
  readonly version: string;
  readonly owner: string;
  readonly description: string;
  readonly parameters: object;
  readonly scope: Scope;
  readonly risk: Risk;
  readonly label: string;
}

/** A tool call's state. */
export type CallState =
  | 'input-streaming'
  | 'input-available'
  | 'approval-requested'
  | 'running'
  | 'result-available'
  | 'failed'
  | 'denied'
  | 'cancelled';

/** Why a run ended. */
export type EndReason =
  | 'completed'
  | 'stopped'
  | 'superseded'
  | 'interrupted'
  | 'truncated'
  | 'max-steps'
  | 'max-calls'
  | 'max-time'
  | 'repeated-call'
  | 'error';

/** An `Error` of ours has a code. `invalid_tool`: the message lists every fault, a line each. */
export interface PageHandError extends Error {
  code: 'invalid_tool' | 'invalid_options';
}

export interface PageHandEventMap {
  /** The panel is mounted. */
  'pagehand-ready': CustomEvent<null>;
  /** A run began. */
  'pagehand-run-start': CustomEvent<{ runId: string; message: string | null }>;
  /** A call entered a state. */
  'pagehand-tool-call': CustomEvent<{
    callId: string;
    name: string;
    scope: Scope | null;
    state: CallState;
    arguments: string;
  }>;
  /** A run ended. */
  'pagehand-run-end': CustomEvent<{ runId: string; reason: EndReason }>;
  /** The model could not be asked, or failed. */
  'pagehand-error': CustomEvent<{
    code: 'network' | 'rate_limit' | 'auth' | 'bad_request' | 'upstream' | 'protocol';
    message: string;
  }>;
  /**
   * The agent wants another screen of this site. Cancelable: a router that takes it calls `preventDefault()`, and
   * `waitUntil` with a promise where it wants to say when the screen is there. Otherwise a link is clicked.
   */
  'pagehand-navigate': CustomEvent<{ url: string; waitUntil(done: unknown): void }>;
}

/** `<page-hand gateway="/" placement="docked" label="Assistant" theme="system" open>` */
export declare class PageHand extends HTMLElement {
  /** Attribute `gateway`: where the gateway is. Default `/`. Read when the panel is first mounted. */
  gateway: string;
  /** Attribute `label`: what the panel is called. */
  label: string;
  /** Attribute `placement`. Default `docked`. */
  placement: 'docked' | 'floating' | 'inline';
  /** Attribute `theme`. Default `system`. */
  theme: 'light' | 'dark' | 'system';
  /** Attribute `instructions`: what the model is told about its work. Read when the panel is first mounted. */
  instructions: string;
  /** Attribute `open`: whether the panel is shown. */
  readonly isOpen: boolean;
  /** The thread at work; `null` before the panel is mounted. */
  readonly threadId: string | null;
  /** Every tool there is now, of the page and of the gateway; empty before the panel is mounted. */
  readonly tools: ToolDefinition[];

  /** Shows the panel and puts the focus in its composer. */
  open(): Promise<void>;
  /** Hides the panel. What is at work goes on. */
  close(): void;
  /** Sends a message, as the user would; what is at work is ended first. */
  send(text: string): Promise<void>;
  /** Stops what is at work. */
  stop(): Promise<void>;
  /** Ends what is at work and begins an empty thread. */
  newThread(): Promise<void>;
  /** Adds a tool, once the panel is loaded. Rejects with a {@link PageHandError} that lists everything wrong with it. */
  registerTool<A extends object = Arguments>(tool: Tool<A>): Promise<void>;
  /** Takes a tool of the page out; `false` where there is none of that name. */
  unregisterTool(name: string): Promise<boolean>;

  addEventListener<K extends keyof PageHandEventMap>(
    type: K,
    listener: (this: PageHand, event: PageHandEventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'page-hand': PageHand;
  }
}

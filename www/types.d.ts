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

/** What becomes of a call whose answer was lost: run again, run again with the same key, or never in silence. */
export type Replay = 'pure' | 'idempotent' | 'effect';

/** A text, or the same text by language (BCP 47 tags). */
export type Words = string | { [language: string]: string };

/**
 * The type that a JSON Schema describes, for a schema written `as const`: objects, arrays, enums, constants, `anyOf`
 * and the plain types. Whatever it can not follow is {@link Json}.
 */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? FromSchema<A>
      : S extends { readonly type: 'object'; readonly properties: infer P }
        ? Fields<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
        : S extends { readonly type: 'array'; readonly items: infer I }
          ? FromSchema<I>[]
          : S extends { readonly type: infer T }
            ? Plain<T extends readonly (infer One)[] ? One : T>
            : Json;

type Fields<P, Required> = { [K in keyof P as K extends Required ? K : never]: FromSchema<P[K]> } & {
  [K in keyof P as K extends Required ? never : K]?: FromSchema<P[K]>;
};

type Plain<T> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'object'
          ? Arguments
          : Json;

/**
 * What tools remember, by key: `app:…` for everyone, `user:…` for the user, `temp:…` until the run ends, any other with
 * the thread. A call sees what earlier steps changed, and its own changes; of two calls of one step that write one key,
 * the value of the one the model made later stays.
 */
export interface ToolState {
  get(key: string): Json;
  set(key: string, value: unknown): void;
  delete(key: string): void;
  all(): { [key: string]: Json };
}

/** Texts kept beside the thread, in versions counted from 1. */
export interface Artifacts {
  /** Keeps a text (or JSON) as the next version; the version comes back. */
  save(name: string, content: unknown, mediaType?: string): number;
  /** A version's text, the latest where none is asked for; `null` where there is none. */
  load(name: string, version?: number): Promise<string | null>;
  list(): { [name: string]: { mediaType: string; versions: number; characters: number } };
  /** How many versions there are. */
  versions(name: string): number;
}

/** What a call brings beside its arguments. */
export interface ToolContext {
  /** The call: its idempotency key. */
  readonly callId: string;
  readonly threadId: string;
  readonly runId: string;
  /** Counted from 1. */
  readonly step: number;
  /** The agent that asks. */
  readonly agent: string;
  /** Who is signed in, as {@link PageHand.setUser} said; `null` for nobody. Never from arguments. */
  readonly user: Json;
  /** Whether the user agreed to this very call. */
  readonly approved: boolean;
  /** What the user answered to {@link requestApproval} beside their yes; `null` for nothing. */
  readonly approval: Json;
  /** Aborted when the call, or the job it began, is cancelled, and when the call takes too long. */
  readonly signal: AbortSignal;
  readonly state: ToolState;
  readonly artifacts: Artifacts;
  /** What {@link PageHand.setMemory} finds; nothing where the page has no memory. */
  readonly memory: { search(words: string, limit?: number): Promise<Json> };
  /** Says how far the call is, or its job: a fraction from 0 to 1 (or `null`), and words for the user. */
  progress(fraction: number | null, words?: string): void;
  /** Words for the log (`pagehand-log`). */
  log(words: string): void;
  /** Asks the user first: return right after it. The call is made again once they agree. */
  requestApproval(reason: string, payload?: unknown): void;
  /** Of a `longRunning` tool: what `run` returns is how the job stands, and {@link complete} says how it ended. */
  startJob(id: string): void;
  /** Says how the job ended. The agent is told in a new step. */
  complete(result: unknown): void;
  /** Says that the job failed; an `Error` may carry `code` and `retryable`. */
  fail(error: unknown): void;
}

/** What an outgoing request holds, for whoever edits it. */
export interface OutgoingRequest {
  readonly threadId: string;
  readonly runId: string;
  readonly instructions: string;
  /** The user's last message. */
  readonly message: string | null;
  /** How many messages are sent. */
  readonly messages: number;
  /** The tools that are offered. */
  readonly tools: readonly string[];
  readonly state: { readonly [key: string]: Json };
}

/** What an editor adds to a request. */
export interface Additions {
  /** A paragraph behind the instructions. */
  instructions?: string;
  /** Facts for the model. */
  context?: { description: string; value: string }[];
  /** AG-UI `forwardedProps`. */
  options?: { [name: string]: Json };
}

/** A tool that runs in the page. With a schema written `as const`, `run` is typed by it. */
export interface Tool<A extends object = Arguments, S = object> {
  /** `^[a-z][a-z0-9_]{2,63}$` */
  name: string;
  /** What it is for, to a model: what it does, when to use it, what comes back. At least 40 characters. */
  description: string;
  /** JSON Schema of the arguments; its root is an object. Absent: no arguments. */
  parameters?: S;
  /** JSON Schema of the result, where it promises one; another result is refused. */
  output?: object;
  /** Arguments that fit, for the model. */
  examples?: A[];
  /** What it may change. */
  risk: Risk;
  /** `pure` for what reads, `effect` for what changes anything, where absent. */
  replay?: Replay;
  /** Who answers for it. */
  owner: string;
  /** `"1"` where absent. */
  version?: string;
  /** The profiles whose agents may see it; all where absent. */
  profiles?: string[];
  /** What {@link PageHand.setFacts} must have said before an agent may see it: fact → the values that will do. */
  requires?: { [fact: string]: Json | Json[] };
  /** Whether a call may be answered at first with a job that goes on by itself. */
  longRunning?: boolean;
  /** What a person reads on its card; the name in words where absent. */
  label?: Words;
  /** What a person reads while it runs. */
  progress?: Words;
  /** Names it had before: still answered, and offered to a model only where it says so. */
  aliases?: (string | { name: string; offered: boolean })[];
  /** When the user is asked: as the policy says (where absent), always, or when the tool asks by itself. */
  approval?: 'risk' | 'always' | 'tool';
  /** How long a call may take, in milliseconds; 60,000 where absent. */
  timeoutMs?: number;
  /** Runs it. Returns (or resolves to) anything JSON can say; what it throws, the model reads. */
  run(args: A, context: ToolContext): unknown;
  /** Edits each outgoing request while the tool is registered. */
  editRequest?(request: OutgoingRequest): Additions | void;
}

/** A named group of tools, resolved anew for each request. */
export interface Toolset {
  name: string;
  owner: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each tool has arguments of its own
  tools: Tool<any, any>[];
  /** Which of them a request offers: `true` for all, `false` for none, or their names. Throwing offers none. */
  resolve?(facts: { readonly [fact: string]: Json }): boolean | string[];
  /** Gets ready what they hold; called when a panel takes the toolset in, again where the element comes back. */
  open?(): void;
  /** Frees what they hold; called when the toolset is closed or the panel is taken down. */
  close?(): void;
}

/** What edits outgoing requests without being a function tool. */
export interface Editor {
  name: string;
  owner: string;
  /** Lower is earlier; 0 where absent. */
  order?: number;
  /** Cheap, and without effects: it runs before every model call. */
  edit(request: OutgoingRequest): Additions | void;
}

/** A rule of a policy: where all of `when` holds, `then` stands. The first that holds decides. */
export interface PolicyRule {
  when?: {
    risk?: Risk | Risk[];
    owner?: string | string[];
    scope?: Scope;
    /** Where the arguments come from, the least trustworthy text counting: `tool` was read by one. */
    arguments?: 'user' | 'model' | 'tool';
    /** Key of the state → the values that will do. */
    state?: { [key: string]: Json | Json[] };
  };
  then: 'allow' | 'ask' | 'refuse';
  /** For the user where it asks, for the model where it refuses. */
  reason?: string;
  /** Whether a yes holds for the tool until the page is closed. */
  once?: boolean;
}

/** What stands in a tool's place. */
export type ToolAnswer =
  | { result: unknown }
  | { error: string | { code?: string; message: string; operator?: string; retryable?: boolean } };

/** What a callback hears of a call. */
export interface CallMoment {
  readonly callId: string;
  readonly name: string;
  readonly scope: Scope;
  readonly owner: string;
  readonly risk: Risk;
  readonly arguments: Arguments;
  readonly runId: string;
  readonly step: number;
}

/** When a callback is asked, what it hears, and what it may answer. `undefined` is no answer. */
export interface Moments {
  'before-model': (heard: {
    readonly threadId: string;
    readonly runId: string;
    readonly instructions: string;
    readonly messages: number;
    readonly tools: readonly string[];
  }) => Maybe<{ text: string }>;
  'after-model': (heard: {
    readonly messageId: string;
    readonly text: string;
    readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  }) => Maybe<{ text: string }>;
  'before-tool': (heard: CallMoment) => Maybe<ToolAnswer>;
  'after-tool': (heard: CallMoment & { readonly result?: Json; readonly error?: Json }) => Maybe<ToolAnswer>;
  error: (
    heard:
      | (CallMoment & { readonly error: Json; readonly model?: undefined })
      | { readonly model: { readonly code: string; readonly message: string } },
  ) => Maybe<ToolAnswer | { text: string }>;
}

type Maybe<T> = T | undefined | void | Promise<T | undefined | void>;

/** What the registry says of itself. */
export interface RegistryReport {
  readonly tools: readonly {
    readonly name: string;
    readonly version: string;
    readonly owner: string;
    readonly scope: Scope;
    readonly risk: Risk;
    readonly hash: string;
    readonly toolset: string | null;
    readonly profiles: readonly string[];
    readonly characters: number;
    /** What of its schema this page can not check and leaves to the gateway. */
    readonly leftToGateway: readonly string[];
  }[];
  /** What each profile's declarations take; the one without a name has the tools that name none. */
  readonly profiles: readonly {
    readonly name: string;
    readonly tools: number;
    readonly characters: number;
    readonly tokens: number;
  }[];
  /** Older names, and how often they were called since the panel was opened. */
  readonly aliases: readonly {
    readonly name: string;
    readonly tool: string;
    readonly uses: number;
    readonly removable: boolean;
  }[];
  readonly calls: readonly {
    readonly tool: string;
    readonly owner: string;
    readonly version: string;
    readonly outcome: string;
    readonly calls: number;
    readonly ms: number;
  }[];
  /** Names nobody registered, and how often a model called them. */
  readonly unknown: { readonly [name: string]: number };
  /** Tools that can not be used, and why. */
  readonly refused: readonly string[];
}

/** A definition as the registry has it. */
export interface ToolDefinition {
  readonly name: string;
  readonly version: string;
  readonly owner: string;
  readonly description: string;
  readonly parameters: object;
  readonly output: object | null;
  readonly scope: Scope;
  readonly risk: Risk;
  readonly replay: Replay;
  readonly profiles: readonly string[];
  readonly longRunning: boolean;
  readonly label: Words;
}

/** A tool call's state. */
export type CallState =
  | 'input-streaming'
  | 'input-available'
  | 'approval-requested'
  | 'running'
  | 'pending'
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
  | 'empty'
  | 'length'
  | 'refused'
  | 'output-mismatch'
  | 'max-steps'
  | 'max-calls'
  | 'max-time'
  | 'max-tokens'
  | 'max-cost'
  | 'repeated-call'
  | 'error';

/** An `Error` of ours has a code. `invalid_tool`: the message lists every fault, a line each. */
export interface PageHandError extends Error {
  code:
    | 'call_not_open'
    | 'invalid_tool'
    | 'invalid_options'
    | 'invalid_limits'
    | 'invalid_policy'
    | 'policy_locked'
    | 'invalid_callback'
    | 'invalid_thread'
    | 'invalid_prompt'
    | 'invalid_model'
    | 'memory_failed'
    | 'no_output'
    | 'not_direct'
    | 'not_json'
    | 'not_saved'
    | 'unknown_call';
  /** Of `no_output`: how the run ended, or what became of the panel. */
  readonly reason?: string;
  /** Of `no_output`: what `pagehand-error` said of that run. */
  readonly cause?: PageHandEventMap['pagehand-error']['detail'];
}

/** A thread as one JSON file. */
export interface ThreadFile {
  readonly format: 'pagehand-thread';
  readonly version: 1 | 2;
  readonly thread: string;
  readonly title: string;
  /** The lines of its journal. */
  readonly entries: readonly unknown[];
  readonly artifacts: readonly {
    readonly name: string;
    readonly version: number;
    readonly mediaType: string;
    readonly text: string;
  }[];
}

/** What a user says: words, files, and the form they want the final answer in. */
export interface Prompt {
  text?: string;
  /** What belongs to it: files of the browser, or base64, or addresses that the model's side fetches. */
  files?: readonly (
    | Blob
    | { name?: string; type: string; data: string }
    | { name?: string; type: string; url: string }
  )[];
  output?: OutputFormat;
}

/** Tokens: those of a cache are among the ones read, those of thinking among the ones written. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** `null` where the gateway knows no prices. */
  readonly costMicros: number | null;
}

/** The form of an answer. */
export interface OutputFormat {
  /** Letters, digits, `_` and `-`, at most 64. Default `answer`. */
  name?: string;
  /** JSON Schema of it. */
  schema: object;
}

/** How far a run may go. What is left out is as usual, whatever was said before. */
export interface Limits {
  /** Model calls a run. 24. */
  maxSteps?: number;
  /** Calls a step; of more than these none runs. 32. */
  maxCalls?: number;
  /** Calls of a step that run at once; the others wait in their order. 8. */
  maxParallel?: number;
  /** How long a run may work, without waiting for the user or for the network, in milliseconds. 10 minutes. */
  maxRunMs?: number;
  /** How often a run may make the same call with the same arguments. 3. */
  maxRepeats?: number;
  /** How long a call may take where its tool says nothing (`timeoutMs`), in milliseconds. A minute. */
  toolTimeoutMs?: number;
  /** How long a model may be silent, in milliseconds. Two minutes. */
  modelIdleMs?: number;
  /** How much of a result a model reads at once; the rest is kept as an artifact. 48,000. */
  maxResultCharacters?: number;
  /** How often a step's model call is made again by itself. 4. */
  maxRetries?: number;
  /** The longest wait that the other side may ask for before that, in milliseconds. A minute. */
  maxWaitMs?: number;
  /** Characters of a call's arguments; more are not kept, and the call does not run. A million. */
  maxArguments?: number;
  /** Tokens a run, read and written, looked at between its steps. Any number. */
  maxTokens?: number;
  /** What a run may cost, in millionths of the gateway's currency, looked at between its steps. Anything. */
  maxCostMicros?: number;
}

/** A model that the page asks by itself: on this machine, or with the user's own key. */
export interface DirectModel {
  /** `ollama`, `llama_cpp`, `lm_studio`, `openai_chat`, `anthropic`, `gemini`, …, or `prompt_api`, the browser's own. */
  provider?: string;
  /** Its server; the provider's usual one where left out. */
  url?: string;
  /** Its name there. */
  model?: string;
  /** Put into the body of every request. */
  parameters?: object;
  /** The user's own key. Kept in memory; the panel asks for one where it is missing. */
  key?: string;
  /** Whether the key is kept in this browser's storage, for the next time. */
  remember?: boolean;
}

export interface PageHandEventMap {
  /** The final answer, in the form that was asked for. */
  'pagehand-output': CustomEvent<{ messageId: string; value: unknown }>;
  /** The thread is being written down (again), or is not for now, and why. */
  'pagehand-saving': CustomEvent<{ saved: boolean; reason: string | null }>;
  /** The panel is mounted. */
  'pagehand-ready': CustomEvent<null>;
  /** The panel failed for good (a panic, memory that ran out) and a fresh one takes its place; `pagehand-ready` follows. */
  'pagehand-restart': CustomEvent<{ message: string }>;
  /** A run began. */
  'pagehand-run-start': CustomEvent<{ runId: string; messageId: string | null; message: string | null }>;
  /** A call entered a state. */
  'pagehand-tool-call': CustomEvent<{
    callId: string;
    name: string;
    scope: Scope | null;
    state: CallState;
    arguments: string;
  }>;
  /** The model is asked; `tools` are those it is offered, as `name@version`. */
  'pagehand-step-start': CustomEvent<{ runId: string; step: number; tools: string[] }>;
  /**
   * The model is asked later: its last answer failed or broke off (`code` and `message` say how, `null` where it broke
   * off), or there is no network. Over with the next `pagehand-step-start` or the run's end. `until`: in milliseconds
   * since 1970, at the latest.
   */
  'pagehand-waiting': CustomEvent<{
    why: 'retry' | 'offline';
    until: number;
    attempt: number | null;
    of: number | null;
    code: string | null;
    message: string | null;
  }>;
  /** A call, or its job, says how far it is. */
  'pagehand-tool-progress': CustomEvent<{ callId: string; fraction: number | null; text: string }>;
  /** A call was settled, for those who count. `outcome` is `ok` or the error's code. */
  'pagehand-tool-settled': CustomEvent<{
    tool: string;
    owner: string;
    version: string;
    outcome: string;
    ms: number;
    alias: string | null;
  }>;
  /** Tokens spent so far, by the step at work and by the run; `costMicros` in millionths of the gateway's currency. */
  'pagehand-usage': CustomEvent<{ step: Usage; run: Usage }>;
  /** Words for the log. */
  'pagehand-log': CustomEvent<{ text: string }>;
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
  /** Attribute `gateway`: where the gateway is, or `none`. Default `/`. Read when the panel is first mounted. */
  gateway: string;
  /** Attribute `label`: what the panel is called. */
  label: string;
  /** Attribute `placement`. Default `docked`. */
  placement: 'docked' | 'floating' | 'inline';
  /** Attribute `theme`. Default `system`. */
  theme: 'light' | 'dark' | 'system';
  /** Attribute `instructions`: what the model is told about its work. Read when the panel is first mounted. */
  instructions: string;
  /** Attribute `profile`: whose tools the agent may see. Read when the panel is first mounted. */
  profile: string;
  /** Attribute `agent`: what the agent is called, to its tools. Read when the panel is first mounted. */
  agent: string;
  /** Attribute `model`: which of the gateway's models answers; with `provider` or `model-url`, see {@link DirectModel}. */
  model: string;
  /** Attribute `provider`: whose API the page speaks to the model that it asks by itself. */
  provider: string;
  /** Attribute `model-url`: the server of that model. */
  modelUrl: string;
  /** Attribute `thread`: the thread to open. Read when the panel is first mounted. */
  thread: string;
  /** Attribute `name`: tells the threads of several elements in one page apart. Default the `id`, or `default`. */
  name: string;
  /** Attribute `load`: `open` loads nothing before the panel is opened. Default `idle`. */
  load: 'idle' | 'open';
  /** Whether the panel is shown: the attribute `open`, or the placement `inline`. */
  readonly isOpen: boolean;
  /** The thread at work; `null` before the panel is mounted. */
  readonly threadId: string | null;
  /** Every tool there is now, of the page and of the gateway; empty before the panel is mounted. */
  readonly tools: ToolDefinition[];

  /**
   * Called, it shows the panel and puts the focus in its composer. Assigned, as frameworks do with a property, it sets or
   * removes the attribute `open`; {@link isOpen} says which.
   */
  get open(): () => Promise<void>;
  set open(open: boolean | string | null | undefined);
  /** Hides the panel. What is at work goes on. */
  close(): void;
  /**
   * Sends a message, as the user would; what is at work is ended first. Its id; `null` where there was nothing to send.
   * Rejects with the code `invalid_prompt`.
   */
  send(prompt: string | Prompt): Promise<string | null>;
  /**
   * Sends a message that wants an answer of a given form; the answer's value. Rejects with the code `no_output` where the
   * run ends without one, or `invalid_prompt`. Like every message it takes the place of one that is still being answered,
   * whose run ends as `superseded`.
   */
  ask(prompt: Prompt & { output: OutputFormat }): Promise<unknown>;
  /**
   * Which model answers: one of the gateway's by its name, or, with `page-hand-direct.js`, one that this page asks by
   * itself. Rejects with the code `not_direct` or `invalid_model`.
   */
  useModel(model: string | DirectModel): Promise<void>;
  /** Forgets every key of a user's, in memory and in this browser. */
  forgetKey(): Promise<void>;
  /** Stops what is at work. */
  stop(): Promise<void>;
  /** Ends what is at work and begins an empty thread. */
  newThread(): Promise<void>;
  /** Opens another thread, in place of the one that is up. */
  openThread(id: string): Promise<void>;
  /** The threads of whoever is signed in, the latest first; `at` in milliseconds since 1970. */
  threads(): Promise<readonly { readonly id: string; readonly title: string; readonly at: number }[]>;
  /** Forgets a thread for good, with its artifacts, in every tab. Rejects with the code `not_saved`. */
  deleteThread(id: string): Promise<void>;
  /** The thread that is up, as a file. Rejects with the code `not_saved` where nothing was said, or it can not be read. */
  exportThread(): Promise<ThreadFile>;
  /** Keeps the thread of a file and opens it; its id. A run that is open in it is ended: nothing of a file is run. Rejects
   * with the code `invalid_thread`, which says where, or `not_saved`. */
  importThread(file: ThreadFile | string): Promise<string>;
  /** Has this page run the thread that is up, where another tab runs it. */
  takeOver(): Promise<void>;
  /** Adds a tool, once the panel is loaded. Rejects with a {@link PageHandError} that lists everything wrong with it. */
  registerTool<const S extends object>(tool: Tool<FromSchema<S> & object, S> & { parameters: S }): Promise<void>;
  registerTool<A extends object = Arguments>(tool: Tool<A>): Promise<void>;
  /** Takes a tool of the page, or an editor, out; `false` where there is none of that name. */
  unregisterTool(name: string): Promise<boolean>;
  /** Adds a group of tools; `close` takes them all out. Rejects as `registerTool` does. */
  registerToolset(toolset: Toolset): Promise<{ close(): Promise<boolean> }>;
  /** Adds an editor of outgoing requests. */
  registerEditor(editor: Editor): Promise<void>;
  /** The rules of this element, once and for all; those of the gateway come behind them. */
  definePolicy(rules: PolicyRule[]): Promise<void>;
  /** What the page says of the session (who may what, where the user is); no tool can write it. */
  setFacts(facts: { [fact: string]: unknown }): Promise<void>;
  /** How far a run may go, the one at work, too. Rejects with the code `invalid_limits`. */
  setLimits(limits: Limits): Promise<void>;
  /** Who is signed in: an id, or an object with an `id`; `null` for nobody. */
  setUser(user: unknown): Promise<void>;
  /** Searches what the page remembers, for its tools. */
  setMemory(search: ((words: string, limit: number) => unknown) | null): Promise<void>;
  /** What the page was built against: a listing of `GET /tools`. Tools on which the gateway differs are not used. */
  expectTools(tools: unknown): Promise<void>;
  /** Hears of a moment, and may answer in its place. Those of one moment are asked in order; the first answer stands. */
  on<W extends keyof Moments>(
    when: W,
    callback: Moments[W],
    options?: { name?: string },
  ): { ready: Promise<void>; remove(): Promise<boolean> };
  /**
   * Says what a job came to. Rejects with the code `unknown_call` where the thread has no such call, or `call_not_open`
   * where it waits for no answer (any more); nothing has changed then. The same goes for the two below.
   */
  complete(callId: string, answer: ToolAnswer): Promise<void>;
  /** Stops a job. */
  cancelJob(callId: string): Promise<void>;
  /** Decides on an open approval, in the user's name. */
  decide(
    callId: string,
    decision: { approve: true; arguments?: object; payload?: unknown } | { approve: false; reason?: string },
  ): Promise<void>;
  /** What the registry says of itself; `null` before the panel is mounted. */
  readonly registry: { report(): RegistryReport | null };

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

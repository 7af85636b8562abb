import type { Item } from '@svc/jsonl-v23';
import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import type { RunErrorCode } from './run-error.ts';

/** One item of a run, where it stands, and which of its repetitions already have a result. */
export interface RunItem {
  readonly section: string;
  /** order of the section in the dataset, from 0 */
  readonly sectionOrderIndex: number;
  /** order of the item in its section, from 0 */
  readonly orderIndex: number;
  /** its stored texts; null where they cannot be read: `failure` then says why */
  readonly parts: ItemParts | null;
  readonly failure?: RunFailure | undefined;
  /** numbers of the repetitions (from 1) that need not be done again */
  readonly doneRepetitions: readonly number[];
}

/** A large value as its canonical JSON text, so that nothing is made of it where only its text is stored. */
export class JsonText {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

/** What became of one repetition: scored, done but not scored, or not done. */
export type RunResultStatus = 'ok' | 'unscored' | 'failed';

/** Why a result or a run failed, in words for people. Holds no secret. */
export interface RunFailure {
  readonly code: RunErrorCode;
  readonly message: string;
}

/** The result of one repetition of one item. */
export interface RunResult {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  /** the item's own id: a string, an integer, or null where it has none */
  readonly itemId: JsonValue;
  /** from 1 */
  readonly repetition: number;
  readonly status: RunResultStatus;
  /** what the provider gave; null where it gave nothing */
  readonly output: JsonValue | JsonText;
  /** 0 to 1; null unless `status` is ok */
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly explanation: string | null;
  readonly error: RunFailure | null;
  /** time of the provider's answer, retries included */
  readonly latencyMs: number | null;
  /** token counts as the provider reported them */
  readonly usage: JsonObject | null;
}

/** How a run ended. */
export type RunEnd =
  | { readonly status: 'completed' | 'cancelled' }
  | { readonly status: 'failed'; readonly error: RunFailure };

/** The stored side of one run, held by the worker that took it. */
export interface RunSession {
  /**
   * The items of the run in section and item order, without those whose repetitions all have results. Read on
   * demand: nothing is fetched ahead of what is pulled but a page.
   */
  items(signal: AbortSignal): AsyncIterable<RunItem>;
  /**
   * Stores results, all or none of them. A result that is there already stays as it is: whoever wrote it
   * first has written it. Called again only when the call before has returned.
   */
  saveResults(results: readonly RunResult[]): Promise<void>;
  /** Ends the run, once. */
  finish(end: RunEnd): Promise<void>;
}

/** A message of a conversation, in the shape of the chat-completions format that items use as well. */
export interface ChatMessage extends JsonObject {
  role: string;
  /** text, or parts such as `{type: 'text', text}` and `{type: 'image_url', image_url: {url}}` */
  content: JsonValue;
}

/** What a provider is asked. */
export interface ProviderRequest {
  readonly item: Item;
  /** the conversation to go on with; empty for a provider that does not use messages */
  readonly messages: readonly ChatMessage[];
  /** the conversation of a large item as JSON text in UTF-8; `item` and `messages` are empty then */
  readonly messagesJson?: Uint8Array | undefined;
}

/** Where an output stands in the item: the text of its last message, or what a JSON Pointer (RFC 6901) names. */
export type OutputSource =
  | { readonly from: 'last_message' }
  | { readonly from: 'pointer'; readonly pointer: string };

/** What a provider answers. */
export interface Completion {
  /** usually a string */
  readonly output: JsonValue;
  readonly usage: JsonObject | null;
}

/** Whatever gives the outputs that are scored. Retries on its own; safe to be called many times at once. */
export interface Provider {
  /** whether it needs `messages`; without, an item need not have a prompt */
  readonly usesMessages: boolean;
  /** where the output stands in the item, for a provider that asks nobody; a thread takes it from a large item */
  readonly outputSource?: OutputSource | undefined;
  /**
   * @throws RunError: with `endsRun` when every other item would fail in the same way, such as a refused key;
   * the signal's reason when it was aborted
   */
  answer(request: ProviderRequest, signal: AbortSignal): Promise<Completion>;
}

/** Time as the run measures it. */
export interface RunClock {
  /** milliseconds that only grow */
  nowMs(): number;
}

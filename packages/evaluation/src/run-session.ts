import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import type { JsonText } from './json-text.ts';
import type { RunErrorCode } from './run-error.ts';

/** One item of a run, with its position and the repetitions that already have a result. */
export interface RunItem {
  readonly section: string;
  /** Order of the section in the dataset, from 0. */
  readonly sectionOrderIndex: number;
  /** Order of the item in its section, from 0. */
  readonly orderIndex: number;
  /** Its stored texts; null if they cannot be read, for the reason in `failure`. */
  readonly parts: ItemParts | null;
  readonly failure?: RunFailure | undefined;
  /** Numbers of the repetitions (from 1) that have a result. */
  readonly doneRepetitions: readonly number[];
}

/** Status of one repetition: scored, done but not scored, or not done. */
export type RunResultStatus = 'ok' | 'unscored' | 'failed';

/** Why a result or a run failed, for people. It holds no secret. */
export interface RunFailure {
  readonly code: RunErrorCode;
  readonly message: string;
}

/** The result of one repetition of one item. */
export interface RunResult {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  /** The item's own id: a string, an integer, or null if it has none. */
  readonly itemId: JsonValue;
  /** From 1. */
  readonly repetition: number;
  readonly status: RunResultStatus;
  /** The provider's output; null without one. */
  readonly output: JsonValue | JsonText;
  /** 0 to 1; null unless `status` is ok. */
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly explanation: string | null;
  readonly error: RunFailure | null;
  /** Milliseconds until the provider's output, retries included. */
  readonly latencyMs: number | null;
  /** Token counts as the provider reported them. */
  readonly usage: JsonObject | JsonText | null;
  /** What neither the item nor its provider caused, behind the error `internal`; for the log, not stored. */
  readonly cause?: unknown;
}

/** How a run ended. */
export type RunEnd =
  | { readonly status: 'completed' | 'cancelled' }
  | { readonly status: 'failed'; readonly error: RunFailure };

/** The stored side of one run, for the worker that holds it. */
export interface RunSession {
  /**
   * The items of the run that lack a result, in section and item order. Pages are read on demand: at most one is
   * fetched ahead.
   */
  items(signal: AbortSignal): AsyncIterable<RunItem>;
  /**
   * Stores results, all or none of them. A result that exists stays as it is: the first writer wins. Await each call
   * before the next.
   */
  saveResults(results: readonly RunResult[]): Promise<void>;
  /** Ends the run, once. */
  finish(end: RunEnd): Promise<void>;
}

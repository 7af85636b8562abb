import type { ItemParts } from '@svc/jsonl-v23';
import type { LinkedFile } from '@svc/jsonl-v23/assets';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { ResultValues } from '@svc/jsonl-v23/runs';
import type { JsonText } from './item/canonical-text.ts';
import type { RunError } from './run-error.ts';

export interface RunItem {
  readonly section: string;
  /** Order of the section in the dataset, from 0. */
  readonly sectionOrderIndex: number;
  /** Order of the item in its section, from 0. */
  readonly orderIndex: number;
  /** Its stored texts; null if they cannot be read, for the reason in `failure`. */
  readonly parts: ItemParts | null;
  /** The files that those texts lack; `readAsset` reads them. */
  readonly linkedFiles?: readonly LinkedFile[] | undefined;
  readonly failure?: RunFailure | undefined;
  /** Numbers of the repetitions (from 1) that have a result, and need no other. */
  readonly doneRepetitions: readonly number[];
  /** Outputs of another run that are scored again, instead of asking a provider. */
  readonly outputs?: readonly StoredOutput[] | undefined;
}

/** What is known of one repetition of an item: another run has stored it, or a client sends it. */
export interface StoredOutput
  extends Omit<EarlierAnswer, 'usage'>,
    Pick<RunResult, 'repetition' | 'itemId' | 'omittedAssets' | 'traceId'> {
  /** Why there is no output; null if there is one. */
  readonly failure: RunFailure | null;
  /** Null if another run counted it. */
  readonly usage: JsonObject | null;
  /** Names of scorers that have scored it already. Default: none. */
  readonly scoredBy?: readonly string[];
}

/** The response that an earlier run got to the same request; `usage` is what it took when it was made. */
export type EarlierAnswer = Pick<
  RunResult,
  'output' | 'reasoning' | 'finishReason' | 'latencyMs' | 'usage' | 'redacted'
>;

export type RunResultStatus = RunResult['status'];

/** Why a result or a run failed, for people. It holds no secret. */
export interface RunFailure {
  /** A `RunErrorCode`, or a code of the run whose outputs are scored again. */
  readonly code: string;
  readonly message: string;
  /** What the provider says about it, without secrets; absent if it says nothing. */
  readonly provider_message?: string;
}

export interface RunResult extends ResultValues<JsonText> {
  /** The cause behind the error `internal`, if it is neither the item nor its provider; for the log, not stored. */
  readonly cause?: unknown;
  /** The error of a result that ends the run; not stored as such. */
  readonly endsRun?: RunError;
  /** SHA-256 of what the model was asked, if other runs may take the output; see `Provider.hashRequest`. */
  readonly requestHash?: Uint8Array | null;
  /** What its requests have cost, for the budget. Default: 0. */
  readonly cost?: number;
}

export type RunEnd =
  | { readonly status: 'completed' | 'cancelled' }
  | { readonly status: 'failed' | 'stopped'; readonly error: RunFailure };

/** The stored side of one run, for the worker that holds it. */
export interface RunSession {
  /**
   * The items of the run that lack a result, in section and item order. Pages are read on demand: at most one is
   * fetched ahead.
   */
  items(signal: AbortSignal): AsyncIterable<RunItem>;
  /**
   * Reads a file of an item in small pieces.
   *
   * @throws RunError `asset_missing` if its content is gone; what the store throws
   */
  readAsset(file: LinkedFile, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Names of the scorers that score, if a run gets further ones; absent for all. */
  readonly scorers?: readonly string[] | undefined;
  /**
   * The answers of an earlier run to requests with these hashes, in their order; null for a request without one. Absent if
   * the run takes no outputs of another.
   */
  readonly findAnswers?:
    | ((hashes: readonly Uint8Array[], signal: AbortSignal) => Promise<readonly (EarlierAnswer | null)[]>)
    | undefined;
  /**
   * Stores results, all or none of them. A result that exists stays as it is: the first writer wins. Await each call
   * before the next.
   */
  saveResults(results: readonly RunResult[]): Promise<void>;
  finish(end: RunEnd): Promise<void>;
}

import type { SourceLocation } from '@svc/jsonl-v23';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import type { ByteSource, PackageLimits } from '@svc/pkg-format';
import type { LostCounter } from './lost.ts';

/** A format that is written: the words that people use. */
export type WrittenTool =
  | 'lm-eval'
  | 'inspect'
  | 'inspect-json'
  | 'promptfoo'
  | 'openai-batch'
  | 'every-eval-ever';

/** A format that is read. */
export type Tool = Exclude<WrittenTool, 'every-eval-ever'> | 'openai-evals' | 'openai-evals-api';

/** A file of a tool. */
export interface ToolFile {
  /** Without its folder. */
  readonly name: string;
  readonly source: ByteSource;
}

export interface ToolScore {
  readonly score: number | null;
  /** Why the value is no score of a package; null if it is one. */
  readonly problem: string | null;
  /** The verdict of the tool; null if it has none. */
  readonly passed: boolean | null;
  readonly explanation: string | null;
}

export interface ToolResult {
  /** From 1; null for the next one of the item. A stated one that the item already has becomes the next one too. */
  readonly repetition: number | null;
  /** Which of several results of one repetition this is, such as a filter, and the number of the file that has them. */
  readonly part?: { readonly source: number; readonly name: string };
  readonly output: JsonValue;
  readonly reasoning?: string | null;
  readonly error: string | null;
  /** By name; the first is the main one, unless the run names another. */
  readonly scores: ReadonlyMap<string, ToolScore>;
  readonly latencyMs?: number | null;
  readonly usage?: JsonObject | null;
  readonly finishReason?: string | null;
  readonly traceId?: string | null;
}

/** An item of a tool, perhaps with a result. Samples of one section with the same key and equal items have one item. */
export interface ToolSample {
  readonly section: string;
  readonly key: string;
  readonly item: JsonObject;
  /** Whether the item was written for the tool by this program: it stays as it is. */
  readonly isOwn?: boolean;
  /** Whether the sample has nothing but a key: it belongs to the item with that key. */
  readonly hasKeyOnly?: boolean;
  /** Whether the item must exist: a result of an unknown item has no place. */
  readonly isKnown?: boolean;
  readonly sourceRow: JsonValue | undefined;
  readonly result: ToolResult | null;
  /** Which run of the file the sample belongs to; 0 if it has one. */
  readonly run?: number;
  readonly location: SourceLocation;
}

/** The run that the results belong to. What the tool does not say is null or left out. */
export interface ToolRun {
  readonly name: string | null;
  /** What tells its items apart from items of other runs of the file; null if all are the same. */
  readonly part?: string | null;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly error: string | null;
  readonly config: JsonObject;
  readonly mainScorer?: string | null;
  /** The mean of a scorer that the files state; undefined if they do not. */
  readonly statedMean?: (section: string, scorer: string) => number | undefined;
}

const MAX_ERROR = 2_000;

export const toolError = (message: string): { readonly code: string; readonly message: string } => ({
  code: 'tool_error',
  message: message.slice(0, MAX_ERROR).toWellFormed(),
});

export interface ReadContext {
  readonly limits: PackageLimits;
  readonly lost: LostCounter;
  lostOf(run: number): LostCounter;
  readonly signal: AbortSignal | undefined;
}

/** The run, each of several runs by its number, or null for a dataset without one. */
export type ToolEnd = ToolRun | ReadonlyMap<number, ToolRun> | null;

export interface ToolContent {
  readonly name: string;
  readonly samples: AsyncGenerator<ToolSample, ToolEnd, undefined>;
}

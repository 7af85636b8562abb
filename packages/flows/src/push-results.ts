import { createYielder } from '@svc/concurrency';
import {
  type CheckRunner,
  checkerOf,
  JsonText,
  parseStoredRunConfig,
  type RunResult,
  scoreOutput,
} from '@svc/evaluation';
import { type KnownSecrets, LineCutter } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { type LocatedItem, type PushSession, readStoredJson, writeResult } from '@svc/store';
import type { PushedLine, PushedResult } from './results/read-pushed.ts';
import type { ResultReader } from './results/result-reader.ts';

/** The name of the scorer of a configuration that names none. */
export const MAIN_SCORER = 'main';

/** Lines that are looked up, scored and stored together. */
const MAX_LINES = 2_000;
/** Rejected lines that are listed. */
export const MAX_REJECTED = 100;
/** Longer outputs stay JSON text: threads read them. */
const MAX_INLINE_CHARS = 64 * 1024;

export interface PushDeps {
  readonly session: PushSession;
  /** Reads lines without blocking the event loop. */
  readonly reader: Pick<ResultReader, 'readPushed'>;
  /** Scores outputs. */
  readonly checks: CheckRunner;
  /** Called with the status of each result that was stored. */
  readonly onStored: (status: RunResult['status']) => void;
}

export interface PushOptions {
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  /** Secrets that no result may hold. */
  readonly secrets: KnownSecrets;
  readonly signal: AbortSignal;
}

/** What became of the lines of a request. */
export interface PushOutcome {
  /** Lines that were stored, and those of them that took the place of another one. */
  readonly accepted: number;
  readonly replaced: number;
  /** The first {@link MAX_REJECTED} lines that were not, and how many there are. */
  readonly rejected: readonly { readonly line: number; readonly message: string }[];
  readonly rejectedTotal: number;
}

/**
 * Stores results that a client sends: bytes → batches of lines → results → items → scores → store. A batch is stored before
 * the next one is read, so that a slow database slows the client; what is stored stays, and lines may come again. A bad
 * line affects no other one. Memory holds one batch, or one line if that is longer.
 *
 * @throws StoreError `run_finished`, `run_not_found`; what the source throws; the signal's reason
 */
export async function pushResults(
  source: AsyncIterable<Uint8Array>,
  deps: PushDeps,
  { maxLineBytes, maxDepth, secrets, signal }: PushOptions,
): Promise<PushOutcome> {
  const { session, reader } = deps;
  const config = parseStoredRunConfig(readStoredJson(session.run.config));
  const { repetitions } = session.run;
  const options = { maxDepth, secrets, repetitions, scorers: [MAIN_SCORER] };
  const store = createBatchStore(deps, checkerOf(config), signal);
  const rejected: { line: number; message: string }[] = [];
  let [accepted, replaced, rejectedTotal] = [0, 0, 0];
  const reject = ({ line, problem }: Rejected): void => {
    rejectedTotal += 1;
    if (rejected.length < MAX_REJECTED) rejected.push({ line, message: `${problem}.` });
  };
  for await (const batch of new LineCutter({ maxLineBytes, signal }).batches(source)) {
    if (batch.fault !== undefined) {
      reject({ line: batch.firstLine, problem: `The line ${batch.fault}` });
      continue;
    }
    const lines = await reader.readPushed({ batch, options }, signal);
    for (let start = 0; start < lines.length; start += MAX_LINES) {
      signal.throwIfAborted();
      const stored = await store(lines.slice(start, start + MAX_LINES));
      stored.rejected.forEach(reject);
      accepted += stored.accepted;
      replaced += stored.replaced;
    }
  }
  return { accepted, replaced, rejected, rejectedTotal };
}

type Rejected = Extract<PushedLine, { readonly problem: string }>;
type Placed = Exclude<LocatedItem, { readonly problem: string }>;

/** A result of a line with its item. */
interface PlacedResult {
  readonly pushed: PushedResult;
  readonly at: Placed;
}

interface StoredBatch {
  readonly accepted: number;
  readonly replaced: number;
  /** In the order of the lines. */
  readonly rejected: readonly Rejected[];
}

/** Makes what stores a batch of lines: the last one of each result. */
function createBatchStore(
  { session, checks, onStored }: PushDeps,
  checker: ReturnType<typeof checkerOf>,
  signal: AbortSignal,
): (lines: readonly PushedLine[]) => Promise<StoredBatch> {
  const yieldToEventLoop = createYielder();
  const scoring = { checks, judge: null, readFile: session.readAsset };

  return async (lines) => {
    const read = lines.flatMap((line) => ('result' in line ? [line.result.reference] : []));
    const located = (await session.locate(read)).values();
    const placed = new Map<string, PlacedResult>();
    const rejected: Rejected[] = [];
    for (const one of lines) {
      const at = 'result' in one ? (located.next().value as LocatedItem) : undefined;
      if ('problem' in one) rejected.push(one);
      else if (at === undefined || 'problem' in at) {
        rejected.push({ line: one.line, problem: `The line ${at?.problem}` });
      } else {
        const { result } = one;
        placed.set(`${at.sectionOrderIndex} ${at.orderIndex} ${result.repetition}`, { pushed: result, at });
      }
    }
    const accepted = lines.length - rejected.length;
    if (placed.size === 0) return { accepted, replaced: 0, rejected };
    const results = await scoreAll([...placed.values()]);
    const texts = results.map((result) => {
      return { ...writeResult(result, canonicalJson), sectionOrderIndex: result.sectionOrderIndex };
    });
    const { replaced } = await session.save(texts);
    for (const { status } of results) onStored(status);
    return { accepted, replaced: replaced + accepted - placed.size, rejected };
  };

  async function scoreAll(placed: readonly PlacedResult[]): Promise<RunResult[]> {
    const results: RunResult[] = [];
    const toScore: PlacedResult[] = [];
    for (const one of placed) {
      const known = withoutScoring(one);
      if (known === undefined) toScore.push(one);
      else results.push(known);
    }
    for (let start = 0; start < toScore.length; ) {
      const page = await session.readItems(toScore.slice(start).map(({ at }) => at));
      for (const [index, item] of page.entries()) {
        const one = toScore[start + index] as PlacedResult;
        await yieldToEventLoop();
        results.push(
          await scoreOutput(
            scoring,
            { ...(item ?? { ...one.at, parts: null }), doneRepetitions: [] },
            { ...factsOf(one), failure: null },
            checker,
            signal,
          ),
        );
      }
      start += page.length;
    }
    return results;
  }
}

/** What a client says of a result, besides its score. */
function factsOf({ pushed, at }: PlacedResult) {
  const { repetition, output, finishReason, latencyMs, usage, traceId } = pushed;
  return {
    ...{ repetition, finishReason, latencyMs, traceId, omittedAssets: null },
    itemId: at.itemId === null ? null : readStoredJson(at.itemId),
    output:
      output === null
        ? null
        : output.length > MAX_INLINE_CHARS
          ? new JsonText(output)
          : readStoredJson(output),
    usage: usage === null ? null : (readStoredJson(usage) as JsonObject),
  };
}

/** The result of a line with a score or an error; undefined for one that a checker is to score. */
function withoutScoring(placed: PlacedResult): RunResult | undefined {
  const { pushed, at } = placed;
  const { [MAIN_SCORER]: scored } = pushed.scores;
  if (scored === undefined && pushed.error === null) return undefined;
  const { section, sectionOrderIndex, orderIndex } = at;
  const facts = {
    ...{ section, sectionOrderIndex, orderIndex, ...factsOf(placed) },
    ...{ attempts: null, judgeUsage: null, reused: false, usageReused: null },
  };
  if (scored === undefined) {
    const none = { score: null, passed: null, explanation: null, scoredBy: null } as const;
    return { ...facts, ...none, status: 'failed', error: pushed.error };
  }
  return { ...facts, ...scored, status: 'ok', scoredBy: 'client', error: null };
}

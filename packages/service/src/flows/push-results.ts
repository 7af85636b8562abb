import { canonicalJson } from '@svc/jsonl-v23/json';
import { LineCutter } from '@svc/jsonl-v23/lines';
import type { KnownSecrets } from '@svc/jsonl-v23/secrets';
import {
  type CheckRunner,
  MAIN_SCORER,
  parseStoredRunConfig,
  RunError,
  type RunResult,
  redactResult,
  redactScores,
  scorersOf,
} from '../evaluation/index.ts';
import {
  type LocatedItem,
  type PushSession,
  readStoredJson,
  type ScoredResult,
  type ScoreSession,
  StoreError,
  writeResult,
} from '../store/index.ts';
import type { PushedLine } from './results/read-pushed.ts';
import { byClient, createPushScorer, type PlacedResult } from './results/score-pushed.ts';
import { toScorers } from './run-dataset.ts';
import type { ThreadReader } from './threads/thread-reader.ts';

/** Lines that are looked up, scored and stored together. */
const MAX_LINES = 2_000;
export const MAX_REJECTED = 100;

export interface PushDeps {
  readonly session: PushSession;
  readonly reader: Pick<ThreadReader, 'readPushed'>;
  readonly checks: CheckRunner;
  readonly onStored: (status: RunResult['status']) => void;
}

interface PushOptions {
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  /** Secrets that no stored result may hold: outputs are scored as they are sent. */
  readonly secrets: KnownSecrets;
  readonly signal: AbortSignal;
}

export type PushOutcome = Awaited<ReturnType<typeof pushResults>>;

/**
 * Stores results that a client sends: bytes → batches of lines → results → items → scores → store. A batch is stored before
 * the next one is read, so that a slow database slows the client; what is stored stays, and lines may come again. A bad
 * line affects no other one. Memory holds one batch, or one line if that is longer.
 *
 * @throws StoreError `run_finished`, `run_not_found`, `too_many_scorers`; what the source throws; the signal's reason
 */
export async function pushResults(source: AsyncIterable<Uint8Array>, deps: PushDeps, options: PushOptions) {
  const { session, reader } = deps;
  const config = parseStoredRunConfig(readStoredJson(session.run.config));
  const judges = new Set(
    scorersOf(config).flatMap(({ name, judge, checker }) =>
      judge !== null && checker !== null ? [name] : [],
    ),
  );
  const score = createPushScorer(deps, toScorers(config, new Map(), null), judges, options.signal);
  const save = async (placed: readonly PlacedResult[]): Promise<Saved> => {
    const results: RunResult[] = [];
    for (const one of await score(placed)) {
      results.push(await redactResult(one, { ...options, checks: deps.checks }, options.signal));
    }
    const texts = results.map((result) => {
      return { ...writeResult(result, canonicalJson), sectionOrderIndex: result.sectionOrderIndex };
    });
    const { replaced } = await session.save(texts);
    for (const { status } of results) deps.onStored(status);
    return { replaced, redacted: results.reduce((sum, one) => sum + one.redacted, 0), missing: NONE };
  };
  return await pushLines(source, { session, reader, save }, { ...options, areScores: false });
}

/**
 * Stores scores that a client sends for results of a run that has ended, as {@link pushResults} stores results.
 *
 * @throws StoreError `run_active`, `run_not_found`, `scorer_exists`, `too_many_scorers`; as {@link pushResults}
 */
export async function pushScores(
  source: AsyncIterable<Uint8Array>,
  { session, reader, checks }: { readonly session: ScoreSession } & Pick<PushDeps, 'reader' | 'checks'>,
  options: PushOptions,
) {
  const computed = configuredScorers(session.run.config);
  const save = async (placed: readonly PlacedResult[]): Promise<Saved> => {
    for (const { pushed } of placed) {
      const name = Object.keys(pushed.scores).find((one) => computed.has(one));
      if (name === undefined) continue;
      throw new StoreError(
        'scorer_exists',
        `The configuration of the run scores by the name ${name}: use another one.`,
      );
    }
    const scored: ScoredResult[] = [];
    for (const { pushed, at } of placed) {
      const said = Object.fromEntries(
        Object.entries(pushed.scores).map(([name, one]) => [name, byClient(one)] as const),
      );
      const { value: scores, count } = await redactScores(said, { ...options, checks }, options.signal);
      scored.push({ ...at, repetition: pushed.repetition, scores, redacted: count });
    }
    const saved = await session.save(scored);
    return { ...saved, redacted: scored.reduce((sum, one) => sum + (one.redacted ?? 0), 0) };
  };
  return await pushLines(source, { session, reader, save }, { ...options, areScores: true });
}

/** Names of the scorers in a run's configuration, which may be any object for an imported run. */
function configuredScorers(config: string): ReadonlySet<string> {
  try {
    return new Set(scorersOf(parseStoredRunConfig(readStoredJson(config))).map(({ name }) => name));
  } catch (error) {
    if (error instanceof RunError) return new Set([MAIN_SCORER]);
    throw error;
  }
}

type Rejected = Extract<PushedLine, { readonly problem: string }>;

const NONE: ReadonlySet<number> = new Set();

interface Saved {
  readonly replaced: number;
  readonly redacted: number;
  /** Places in the batch of lines without a result. */
  readonly missing: ReadonlySet<number>;
}

async function pushLines(
  source: AsyncIterable<Uint8Array>,
  {
    session,
    reader,
    save,
  }: {
    readonly session: Pick<PushSession, 'run' | 'locate'>;
    readonly reader: PushDeps['reader'];
    readonly save: (placed: readonly PlacedResult[]) => Promise<Saved>;
  },
  { maxLineBytes, maxDepth, signal, areScores }: PushOptions & { readonly areScores: boolean },
) {
  const options = { maxDepth, repetitions: session.run.repetitions, areScores };
  /** The first {@link MAX_REJECTED} of the lines that are not stored. */
  const rejected: { readonly line: number; readonly message: string }[] = [];
  let [accepted, replaced, redacted, rejectedTotal] = [0, 0, 0, 0];
  const reject = ({ line, problem }: Rejected): void => {
    rejectedTotal += 1;
    if (rejected.length < MAX_REJECTED) rejected.push({ line, message: `${problem}.` });
  };
  for await (const batch of new LineCutter({ maxLineBytes, signal }).batches(source)) {
    if ('fault' in batch) {
      reject({ line: batch.line, problem: `The line ${batch.fault}` });
      continue;
    }
    const lines = await reader.readPushed({ batch, options }, signal);
    for (let start = 0; start < lines.length; start += MAX_LINES) {
      signal.throwIfAborted();
      await store(lines.slice(start, start + MAX_LINES));
    }
  }
  return { accepted, replaced, redacted, rejected, rejectedTotal };

  async function store(lines: readonly PushedLine[]): Promise<void> {
    const read = lines.flatMap((line) => ('result' in line ? [line.result.reference] : []));
    const located = (await session.locate(read)).values();
    const placed = new Map<string, PlacedResult>();
    const bad: Rejected[] = [];
    for (const one of lines) {
      const at = 'result' in one ? (located.next().value as LocatedItem) : undefined;
      if ('problem' in one) bad.push(one);
      else if (at === undefined || 'problem' in at) {
        bad.push({ line: one.line, problem: `The line ${at?.problem}` });
      } else {
        const { result, line } = one;
        const key = `${at.sectionOrderIndex} ${at.orderIndex} ${result.repetition}`;
        const before = areScores ? placed.get(key)?.pushed.scores : undefined;
        placed.set(key, { line, pushed: { ...result, scores: { ...before, ...result.scores } }, at });
      }
    }
    const batch = [...placed.values()];
    const saved = batch.length === 0 ? { replaced: 0, redacted: 0, missing: NONE } : await save(batch);
    const { replaced: others, missing } = saved;
    redacted += saved.redacted;
    for (const index of missing) {
      bad.push({
        line: batch[index]?.line ?? 0,
        problem: 'The line names no result of the run with an output',
      });
    }
    const stored = lines.length - bad.length;
    accepted += stored;
    replaced += others + stored - (batch.length - missing.size);
    for (const one of bad.sort((left, right) => left.line - right.line)) reject(one);
  }
}

import { createYielder } from '@svc/concurrency';
import {
  type CheckRunner,
  JsonText,
  MAIN_SCORER,
  parseStoredRunConfig,
  RunError,
  type RunResult,
  type Scorer,
  type Scorers,
  scoreOutput,
  scorersOf,
} from '@svc/evaluation';
import { type KnownSecrets, LineCutter, type ScorerScore, type Scores } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import {
  type LocatedItem,
  type PushSession,
  readStoredJson,
  type ScoreSession,
  StoreError,
  writeResult,
} from '@svc/store';
import type { PushedLine, PushedResult, PushedScore } from './results/read-pushed.ts';
import type { ResultReader } from './results/result-reader.ts';
import { toScorers } from './run/to-scorers.ts';

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

/** The outcome of the lines of a request. */
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
 * @throws StoreError `run_finished`, `run_not_found`, `too_many_scorers`; what the source throws; the signal's reason
 */
export async function pushResults(
  source: AsyncIterable<Uint8Array>,
  deps: PushDeps,
  options: PushOptions,
): Promise<PushOutcome> {
  const { session, reader } = deps;
  const config = parseStoredRunConfig(readStoredJson(session.run.config));
  const judges = new Set(
    scorersOf(config).flatMap(({ name, judge, checker }) =>
      judge !== null && checker !== null ? [name] : [],
    ),
  );
  const score = createScorer(deps, toScorers(config, new Map(), null), judges, options.signal);
  const save = async (placed: readonly PlacedResult[]): Promise<number> => {
    const results = await score(placed);
    const texts = results.map((result) => {
      return { ...writeResult(result, canonicalJson), sectionOrderIndex: result.sectionOrderIndex };
    });
    const { replaced } = await session.save(texts);
    for (const { status } of results) deps.onStored(status);
    return replaced;
  };
  return await pushLines(source, { session, reader, save }, { ...options, areScores: false });
}

/**
 * Stores scores that a client sends for results of a run that has ended, in the same way.
 *
 * @throws StoreError `run_active`, `run_not_found`, `scorer_exists`, `too_many_scorers`; as {@link pushResults}
 */
export async function pushScores(
  source: AsyncIterable<Uint8Array>,
  { session, reader }: { readonly session: ScoreSession } & Pick<PushDeps, 'reader'>,
  options: PushOptions,
): Promise<PushOutcome> {
  const computed = configuredScorers(session.run.config);
  const save = async (
    placed: readonly PlacedResult[],
  ): Promise<{ replaced: number; missing: ReadonlySet<number> }> => {
    for (const { pushed } of placed) {
      const name = Object.keys(pushed.scores).find((one) => computed.has(one));
      if (name === undefined) continue;
      throw new StoreError(
        'scorer_exists',
        `The configuration of the run scores by the name ${name}: use another one.`,
      );
    }
    return await session.save(
      placed.map(({ pushed, at }) => {
        const scores = Object.fromEntries(
          Object.entries(pushed.scores).map(([name, one]) => [name, byClient(one)] as const),
        );
        return { ...at, repetition: pushed.repetition, scores };
      }),
    );
  };
  return await pushLines(source, { session, reader, save }, { ...options, areScores: true });
}

/** Names by which the configuration of a run scores. That of an imported run may be any object. */
function configuredScorers(config: string): ReadonlySet<string> {
  try {
    return new Set(scorersOf(parseStoredRunConfig(readStoredJson(config))).map(({ name }) => name));
  } catch (error) {
    if (error instanceof RunError) return new Set([MAIN_SCORER]);
    throw error;
  }
}

const byClient = (score: PushedScore): ScorerScore => ({ ...score, scored_by: 'client' });

type Rejected = Extract<PushedLine, { readonly problem: string }>;
type Placed = Exclude<LocatedItem, { readonly problem: string }>;

/** A result of a line with its item. */
interface PlacedResult {
  readonly line: number;
  readonly pushed: PushedResult;
  readonly at: Placed;
}

interface Saved {
  readonly replaced: number;
  /** Places in the batch of those that have no result. */
  readonly missing: ReadonlySet<number>;
}

/** Reads lines and saves them in batches, of each result the last line. */
async function pushLines(
  source: AsyncIterable<Uint8Array>,
  {
    session,
    reader,
    save,
  }: {
    readonly session: Pick<PushSession, 'run' | 'locate'>;
    readonly reader: PushDeps['reader'];
    readonly save: (placed: readonly PlacedResult[]) => Promise<number | Saved>;
  },
  { maxLineBytes, maxDepth, secrets, signal, areScores }: PushOptions & { readonly areScores: boolean },
): Promise<PushOutcome> {
  const options = { maxDepth, secrets, repetitions: session.run.repetitions, areScores };
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
      await store(lines.slice(start, start + MAX_LINES));
    }
  }
  return { accepted, replaced, rejected, rejectedTotal };

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
    const saved = batch.length === 0 ? 0 : await save(batch);
    const { replaced: others, missing } =
      typeof saved === 'number' ? { replaced: saved, missing: NONE } : saved;
    for (const index of missing) {
      bad.push({ line: batch[index]?.line ?? 0, problem: 'The line names no result of the run' });
    }
    const stored = lines.length - bad.length;
    accepted += stored;
    replaced += others + stored - (batch.length - missing.size);
    for (const one of bad.sort((left, right) => left.line - right.line)) reject(one);
  }
}

const NONE: ReadonlySet<number> = new Set();

/** Makes what scores results by the scorers of the run, for which the client brings no score. */
function createScorer(
  { session, checks }: PushDeps,
  { main, others, areNamed }: Scorers,
  /** Names of those that score every item, when the run ends. */
  judges: ReadonlySet<string>,
  signal: AbortSignal,
): (placed: readonly PlacedResult[]) => Promise<RunResult[]> {
  const yieldToEventLoop = createYielder();
  const all = [main, ...others].filter(({ name }) => !judges.has(name));
  const missingOf = ({ pushed }: PlacedResult): readonly Scorer[] =>
    pushed.error === null ? all.filter(({ name }) => !Object.hasOwn(pushed.scores, name)) : [];

  return async (placed) => {
    const results: RunResult[] = [];
    const toScore: PlacedResult[] = [];
    for (const one of placed) {
      if (missingOf(one).length > 0) toScore.push(one);
      else results.push(withClientScores(one, undefined));
    }
    for (let start = 0; start < toScore.length; ) {
      const page = await session.readItems(toScore.slice(start).map(({ at }) => at));
      for (const [index, item] of page.entries()) {
        const one = toScore[start + index] as PlacedResult;
        await yieldToEventLoop();
        const [first, ...rest] = missingOf(one);
        const scored = await scoreOutput(
          { checks, readFile: session.readAsset },
          { ...(item ?? { ...one.at, parts: null }), doneRepetitions: [] },
          { ...factsOf(one), failure: null },
          { main: first as Scorer, others: rest, areNamed: true },
          signal,
        );
        results.push(withClientScores(one, scored));
      }
      start += page.length;
    }
    return results;
  };

  /** A result with the scores of the client in place. @param scored by the others; undefined where there is none */
  function withClientScores(placed: PlacedResult, scored: RunResult | undefined): RunResult {
    const { pushed, at } = placed;
    const own = Object.entries(pushed.scores).map(([name, score]) => [name, byClient(score)] as const);
    const computed = Object.entries((scored?.scores ?? {}) as Scores);
    const scores = Object.fromEntries(
      [...computed, ...own].filter(([name]) => areNamed || name !== main.name),
    );
    const named = Object.keys(scores).length === 0 ? null : scores;
    const byMain = pushed.scores[main.name];
    const isMain = byMain === undefined && !judges.has(main.name);
    if (scored !== undefined && isMain) return { ...scored, scores: named };
    const { section, sectionOrderIndex, orderIndex } = at;
    const facts = {
      ...{ section, sectionOrderIndex, orderIndex, ...factsOf(placed) },
      ...{
        attempts: null,
        judgeUsage: null,
        judgeCost: null,
        reused: false,
        usageReused: null,
        scores: named,
      },
    };
    if (byMain === undefined) {
      const none = { score: null, passed: null, explanation: null, scoredBy: null } as const;
      return {
        ...facts,
        ...none,
        status: pushed.error === null ? 'unscored' : 'failed',
        error: pushed.error,
      };
    }
    return { ...facts, ...byMain, status: 'ok', scoredBy: 'client', error: null };
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

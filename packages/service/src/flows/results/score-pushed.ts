import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import type { ScorerScore, Scores } from '@svc/jsonl-v23/runs';
import { createYielder } from '../../concurrency/index.ts';
import {
  type CheckRunner,
  JsonText,
  type RunResult,
  type Scorer,
  type Scorers,
  scoreOutput,
} from '../../evaluation/index.ts';
import { type LocatedItem, type PushSession, readStoredJson } from '../../store/index.ts';
import type { PushedResult, PushedScore } from './read-pushed.ts';

/** Longer outputs stay JSON text: threads read them. */
const MAX_INLINE_CHARS = 64 * 1024;

export interface PlacedResult {
  readonly line: number;
  readonly pushed: PushedResult;
  readonly at: Exclude<LocatedItem, { readonly problem: string }>;
}

export const byClient = (score: PushedScore): ScorerScore => ({ ...score, scored_by: 'client' });

/** Makes a scorer of results by the scorers of the run for which the client brings no score. */
export function createPushScorer(
  { session, checks }: { readonly session: PushSession; readonly checks: CheckRunner },
  { main, others, areNamed }: Scorers,
  /** Names of the scorers of every item when the run ends. */
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

  /** A result with the client's scores added. @param scored by the others; undefined if there is none */
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

function factsOf({ pushed, at }: PlacedResult) {
  const { repetition, output, reasoning, finishReason, latencyMs, usage, traceId } = pushed;
  return {
    ...{ repetition, finishReason, latencyMs, traceId, omittedAssets: null, redacted: 0 },
    itemId: at.itemId === null ? null : readStoredJson(at.itemId),
    output: readText(output),
    reasoning: readText(reasoning) as string | JsonText | null,
    usage: usage === null ? null : (readStoredJson(usage) as JsonObject),
  };
}

function readText(json: string | null): JsonValue | JsonText {
  if (json === null) return null;
  return json.length > MAX_INLINE_CHARS ? new JsonText(json) : readStoredJson(json);
}

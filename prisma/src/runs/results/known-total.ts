import type { RunResultStatus } from '@svc/evaluation';
import type { RunSummary } from '../scores/summarize-run.ts';
import type { ResultsConditions } from './results-filter.ts';

/** What a run knows of its results without reading them. */
export interface RunTotals {
  readonly id: string;
  /** Changes with its results. */
  readonly version: string;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
  readonly passed: number;
  readonly scored: number;
  readonly imported: boolean;
  /** Of these results, JSON text; null while there is none. */
  readonly summary: string | null;
}

/** A summary has no more sections, types and tags, ... */
const MAX_GROUPS = 1_000;
/** ... and no more reasons. */
const MAX_REASONS = 100;

/** How many results pass, if the run or its summary says so. */
export function knownTotal(run: RunTotals, conditions: ResultsConditions): number | undefined {
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  const [name, value] = given[0] ?? [];
  if (given.length > 1) return undefined;
  if (name === undefined) return run.ok + run.failed + run.unscored;
  if (name === 'status') return run[value as RunResultStatus];
  if (name === 'passed' && value === true) return run.passed;
  // A score without a verdict neither passed nor failed; only imported runs have such.
  if (name === 'passed') return run.imported ? undefined : run.scored - run.passed;
  if (run.summary === null) return undefined;
  const { scores, finish_reasons } = JSON.parse(run.summary) as RunSummary;
  const text = String(value);
  if (name === 'finishReason') return countOf(finish_reasons, text, MAX_REASONS, (count) => count);
  const groups = { section: scores.by_section, type: scores.by_type, tag: scores.by_tag };
  if (!Object.hasOwn(groups, name)) return undefined;
  return countOf(groups[name as keyof typeof groups], text, MAX_GROUPS, ({ results }) => results);
}

/** The count of a group; 0 for one that is not there although there is space for it. */
function countOf<T>(
  groups: Readonly<Record<string, T>>,
  name: string,
  most: number,
  count: (group: T) => number,
): number | undefined {
  const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
  if (group !== undefined) return count(group);
  return Object.keys(groups).length < most ? 0 : undefined;
}

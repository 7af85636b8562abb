import { MAIN_SCORER } from '@svc/evaluation';
import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { shortened } from '../../database/values.ts';
import type { ImportedResult } from './written-result.ts';

/** Scorers of one run. */
export const MAX_SCORERS = 16;

/**
 * Adds the scorers of scores to the scorers of their run.
 *
 * @param client in a transaction that holds the run's row
 * @returns the names in their order
 * @throws StoreError `too_many_scorers`
 */
export async function addScorers(
  client: pg.ClientBase,
  runId: string,
  scored: readonly ImportedResult['scored'][],
): Promise<readonly string[]> {
  const found = new Set(scored.flatMap((scores) => Object.keys(scores)));
  if (found.size === 0) return [];
  const { rows } = await client.query<{ names: string | null }>(
    'SELECT scorer_names AS names FROM runs WHERE id = $1',
    [runId],
  );
  const known = JSON.parse(rows[0]?.names ?? '[]') as string[];
  const names = [...new Set([...known, ...found])];
  if (names.length === known.length) return names;
  if (names.length > MAX_SCORERS) {
    throw new StoreError('too_many_scorers', `A run has at most ${MAX_SCORERS} scorers.`);
  }
  await client.query('UPDATE runs SET scorer_names = $2 WHERE id = $1', [runId, JSON.stringify(names)]);
  return names;
}

/**
 * The numbers of scores in the order of the run's scorers, as texts of arrays. A scorer that failed has not passed, and has no
 * score; one that does not apply to the item has neither.
 */
export function numbersOf(
  scored: ImportedResult['scored'],
  names: readonly string[],
): { readonly scorerScores: string; readonly scorerPassed: string } {
  const used = Object.keys(scored).length === 0 ? [] : names;
  const values = new Map(Object.entries(scored));
  const array = (of: (score: Scored) => number | boolean | null): string => {
    const texts = used.map((name) => {
      const score = values.get(name);
      return String(score === undefined ? null : of(score)).toUpperCase();
    });
    return `{${texts.join(',')}}`;
  };
  return {
    scorerScores: array(({ score }) => score),
    scorerPassed: array(({ passed, error }) => (error === undefined ? passed : false)),
  };
}

type Scored = ImportedResult['scored'][string];

/**
 * The number of a scorer in the results of its run, from 1; null for the main one of a run that names none.
 *
 * @param names JSON text of the run's `scorer_names`; null without any
 * @throws StoreError `scorer_not_found`
 */
export function scorerNumber(names: string | null, scorer: string): number | null {
  const found = (JSON.parse(names ?? '[]') as string[]).indexOf(scorer);
  if (found !== -1) return found + 1;
  if (scorer === MAIN_SCORER) return null;
  throw new StoreError('scorer_not_found', `The run has no scorer ${JSON.stringify(shortened(scorer))}.`);
}

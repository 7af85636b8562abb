import type { RunResultStatus } from '@svc/evaluation';
import { containsPattern, insideJsonString, searchableText } from '../../database/values.ts';
import type { ResultsFilter } from '../run-results.ts';

/** Which results of a run to list; a result passes if it passes all of these. */
export interface ResultsConditions {
  readonly status?: RunResultStatus | undefined;
  readonly passed?: boolean | undefined;
  /** Name of the section. */
  readonly section?: string | undefined;
  /** Type of the item. */
  readonly type?: string | undefined;
  /** A tag of the item. */
  readonly tag?: string | undefined;
  readonly finishReason?: string | undefined;
  /** Hash of the item, 64 hex digits. */
  readonly itemHash?: string | undefined;
  /** Part of the output, explanation or error in their JSON text, in any case. */
  readonly q?: string | undefined;
}

/** The conditions as SQL about `run_results result`. @param first number of the first parameter */
export function resultsFilter(conditions: ResultsConditions, first: number): ResultsFilter {
  const { status, passed, section, type, tag, finishReason, itemHash, q } = conditions;
  const values: unknown[] = [];
  const parts: string[] = [];
  const add = (sql: (parameter: string) => string, value: unknown): void => {
    values.push(value);
    parts.push(`AND ${sql(`$${first + values.length - 1}`)}`);
  };
  if (status !== undefined) add((value) => `result.status = ${value}`, status);
  if (passed !== undefined) add((value) => `result.passed = ${value}`, passed);
  if (section !== undefined) add((value) => `result.section = ${value}`, searchableText(section));
  if (type !== undefined) add((value) => `result.item_type = ${value}`, insideJsonString(type));
  if (tag !== undefined) add((value) => `result.tags @> ARRAY[${value}::text]`, insideJsonString(tag));
  if (finishReason !== undefined) {
    add((value) => `result.finish_reason = ${value}`, searchableText(finishReason));
  }
  if (itemHash !== undefined) add((value) => `result.item_hash = decode(${value}, 'hex')`, itemHash);
  if (q !== undefined) {
    const wanted = insideJsonString(searchableText(q));
    // Costs half as much as ILIKE, which folds the case of every letter.
    if (/^[\0-\x7f]*$/.test(wanted)) add(containsAscii, wanted.toLowerCase());
    else add(containsText, containsPattern(wanted));
  }
  return { sql: parts.join(' '), values };
}

const containsAscii = (wanted: string): string =>
  `(${['output', 'explanation', 'error']
    .map((text) => `position(${wanted} IN lower(result.${text} COLLATE "C")) > 0`)
    .join(' OR ')})`;

const containsText = (pattern: string): string =>
  `(result.output ILIKE ${pattern} OR result.explanation ILIKE ${pattern} OR result.error ILIKE ${pattern})`;

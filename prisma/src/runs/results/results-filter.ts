import type { RunResultStatus } from '@svc/evaluation';
import { hasOtherCases, insideJsonString, searchableText } from '../../database/values.ts';
import { ofRun } from '../../items/version-sql.ts';
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

/** What the texts of results are like; it changes what a search costs, not what it finds. */
export interface TextTraits {
  /** Most contain the text of `q` as it is written. */
  readonly mostContainIt: boolean;
  /** Most have only ASCII characters. */
  readonly mostAreAscii: boolean;
}

const UNKNOWN_TEXTS: TextTraits = { mostContainIt: false, mostAreAscii: false };

/** The text of `q` as the texts of results contain it. */
export const wantedText = (q: string): string => insideJsonString(searchableText(q));

/** The conditions as SQL about `run_results result`. @param first number of the first parameter */
export function resultsFilter(
  conditions: ResultsConditions,
  first: number,
  traits: TextTraits = UNKNOWN_TEXTS,
): ResultsFilter {
  const { status, passed, section, type, tag, finishReason, itemHash, q } = conditions;
  const values: unknown[] = [];
  const parts: string[] = [];
  const add = (sql: (parameter: string) => string, value: unknown): void => {
    values.push(value);
    parts.push(`AND ${sql(`$${first + values.length - 1}`)}`);
  };
  if (status !== undefined) add((value) => `result.status = ${value}`, status);
  if (passed !== undefined) add((value) => `result.passed = ${value}`, passed);
  if (section !== undefined) add(ofSection, searchableText(section));
  if (type !== undefined) add((value) => `result.item_type = ${value}`, insideJsonString(type));
  if (tag !== undefined) add((value) => `result.tags @> ARRAY[${value}::text]`, insideJsonString(tag));
  if (finishReason !== undefined) {
    add((value) => `result.finish_reason = ${value}`, searchableText(finishReason));
  }
  if (itemHash !== undefined) add((value) => `result.item_hash = decode(${value}, 'hex')`, itemHash);
  if (q !== undefined) {
    const wanted = wantedText(q);
    const contains = hasOtherCases(wanted) ? containsText : containsFolded;
    add((value) => inAny((text) => contains(value, text, traits)), wanted);
  }
  return { sql: parts.join(' '), values };
}

/** The sections of this name are a range of the primary key, or a few. `$1` is the run. */
const ofSection = (name: string): string => {
  const named = `FROM runs run JOIN version_sections s ON ${ofRun('run')} WHERE run.id = $1 AND s.name = ${name}`;
  return `result.section_order_index BETWEEN (SELECT min(s.order_index) ${named}) AND (SELECT max(s.order_index) ${named})
    AND result.section = ${name}`;
};

const inAny = (contains: (text: string) => string): string =>
  `(${['output', 'explanation', 'error'].map((text) => contains(`result.${text}`)).join(' OR ')})`;

type Contains = (wanted: string, text: string, traits: TextTraits) => string;

/** To find a text as it is written costs a fraction of changing the case, but is wasted where no text contains it so. */
const asWritten = (wanted: string, text: string, { mostContainIt }: TextTraits): string =>
  mostContainIt ? `position(${wanted}::text IN ${text}) > 0 OR ` : '';

/** Costs half as much as with the cases of all letters. */
const containsFolded: Contains = (wanted, text, traits) =>
  `${asWritten(wanted, text, traits)}position(lower(${wanted}::text COLLATE "C") IN lower(${text} COLLATE "C")) > 0`;

/** A text of ASCII alone is ASCII in lower case too, so that it contains no other letter. */
const containsText: Contains = (wanted, text, traits) => {
  const contains = `position(lower(${wanted}::text) IN lower(${text})) > 0`;
  const canContain = `(NOT ${isBeyondAscii(`lower(${wanted}::text)`)} OR ${isBeyondAscii(text)}) AND `;
  return `${asWritten(wanted, text, traits)}${traits.mostAreAscii ? canContain : ''}${contains}`;
};

/** SQL that says whether a text has a character beyond ASCII. */
export const isBeyondAscii = (text: string): string => `octet_length(${text}) > char_length(${text})`;

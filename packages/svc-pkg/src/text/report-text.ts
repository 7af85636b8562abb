import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { printableText } from './format.ts';

/** Longer texts are cut in reports. */
const MAX_CODE_POINTS = 300;

/** How the runners of CI systems find commands inside a line of a log: `##[error]`, `##vso[...]`, `##teamcity[...]`. */
const LOG_COMMAND = /##(?=\w{0,20}\[)/g;

/**
 * One line of a text of unknown origin for reports and logs: it makes white space one blank, cuts long texts, and
 * escapes control characters, and commands to CI systems inside a line. It must not begin a line.
 */
export function reportText(value: string): string {
  const start = value.slice(0, 10 * MAX_CODE_POINTS);
  const line = start.toWellFormed().replaceAll(/\s+/g, ' ').trim();
  const points = [...line];
  const isCut = points.length > MAX_CODE_POINTS || start.length < value.length;
  const shown = isCut ? `${points.slice(0, MAX_CODE_POINTS - 1).join('')}…` : line;
  return printableText(shown).replace(LOG_COMMAND, '#\\u0023');
}

/** A JSON value as one line for reports and logs; undefined if there is none. */
export function reportValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return reportText(typeof value === 'string' ? value : canonicalJson(value as JsonValue));
}

/** A difference of scores in points, such as `-2.3`. */
export function pointsText(difference: number): string {
  const points = Number((difference * 100).toPrecision(3));
  return String(points === 0 ? 0 : points);
}

import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { inputOf, tagsOf } from '../../datasets/items/item-reading.ts';
import { valueAt } from '../../ui/pointer-of.ts';
import { textOrJson } from '../../ui/text/pretty-json.ts';
import type { Result } from '../queries.ts';
import { gotOf, outputTokensOf, whyOf } from './listed-result.ts';
import { labelText } from './result-columns.tsx';
import { metaPointerOf, scorerKey } from './results-query.ts';

/** The lines of a CSV file: a header, then results. */
export const csvLine = (cells: readonly string[], isForExcel: boolean): string =>
  `${cells.map((cell) => csvCell(isForExcel && FORMULA.test(cell) ? `'${cell}` : cell)).join(',')}\r\n`;

/** What spreadsheet programs take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** What a result has in a column of the list, whole; the list itself shows the beginning. */
export function cellText(key: string, result: Result): string {
  const item = (result.item ?? {}) as JsonObject;
  const scorer = scorerKey.exec(key)?.[1];
  if (scorer !== undefined) return textOf(result.scores?.[scorer]?.score);
  const pointer = metaPointerOf(key);
  if (pointer !== undefined) return textOf(valueAt(getMember(item, 'meta'), pointer));
  return textOf(VALUES[key]?.(result, item));
}

const VALUES: Readonly<Record<string, (result: Result, item: JsonObject) => unknown>> = {
  id: ({ item_id, section, order_index }) => item_id ?? `${section} ${order_index}`,
  question: (_, item) => inputOf(item, 'prompt') ?? inputOf(item, 'messages'),
  expected: (_, item) => getMember(item, 'answer'),
  got: gotOf,
  output: ({ output }) => output,
  why: whyOf,
  score: ({ score }) => score,
  latency: ({ latency_ms }) => latency_ms,
  tokens: outputTokensOf,
  cost: ({ cost }) => cost,
  tags: (_, item) => tagsOf(item).join(', '),
  type: (_, item) => getMember(item, 'type'),
  section: ({ section }) => section,
  label: ({ labels }) => labelText(labels),
  finish: ({ finish_reason }) => finish_reason,
};

const textOf = (value: unknown): string => (value === null ? '' : textOrJson(value as JsonValue | undefined));

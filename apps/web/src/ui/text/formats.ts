import { ExactNumber, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** A count of things by their name: `1 item`, `1,234 items`. */
export function formatCountOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`;
}

export const present = <Entry>(entries: readonly (Entry | false | null | undefined)[]): readonly Entry[] =>
  entries.filter((entry): entry is Entry => entry !== false && entry !== null && entry !== undefined);

/** A size in binary units: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}

/** How long something takes: `420 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`; a dash where that is not known. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  // Rounded first: a minute has no 60 seconds more.
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A time of the API in the time zone of the browser: `24 Nov 2026, 02:08:45`. */
export function formatTime(time: string): string {
  return new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

/** The age of a time: `just now`, `5 min ago`, `3 days ago`. */
export function formatAge(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 60) return 'just now';
  const steps = [
    [60, 'min'],
    [3600, 'h'],
    [86_400, 'day'],
    [86_400 * 365, 'year'],
  ] as const;
  const [size, unit] = steps.findLast(([step]) => seconds >= step) ?? steps[0];
  const count = Math.floor(seconds / size);
  const plural = count > 1 && (unit === 'day' || unit === 'year') ? 's' : '';
  return `${count} ${unit}${plural} ago`;
}

/** A score or rate with three significant places; a dash without one. */
export function formatScore(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : score.toFixed(3).replace('-', '−');
}

/** An interval of scores from 0 to 1 without what is beyond them; null for an interval without width. */
export function clampedInterval(
  interval: readonly number[] | null | undefined,
): readonly [low: number, high: number] | null {
  const [low, high] = interval ?? [];
  if (low === undefined || high === undefined || low === high) return null;
  return low < 0 || high > 1 ? [Math.max(0, low), Math.min(1, high)] : [low, high];
}

/** An interval of scores: `0.412 to 0.533`; a dash without one. */
export function formatInterval(interval: readonly number[] | null): string {
  return interval?.map(formatScore).join(' to ') ?? '–';
}

/** A p-value, or one adjusted for several tests; a dash without one. */
export function formatP(p: number | null): string {
  return p !== null && p < 0.001 ? '< 0.001' : formatScore(p);
}

export function formatPercent(share: number | null | undefined): string {
  return share === null || share === undefined ? '–' : `${(share * 100).toFixed(1)} %`;
}

/** A difference of scores with its sign; a dash without one. */
export function formatSigned(difference: number | null | undefined): string {
  if (difference === null || difference === undefined) return '–';
  return `${difference < 0 ? '−' : '+'}${Math.abs(difference).toFixed(3)}`;
}

/** What something costs; a dash where nothing is known of it. */
export function formatCost(
  cost: { readonly amount: number; readonly currency: string } | null | undefined,
): string {
  if (cost === null || cost === undefined) return '–';
  const { amount, currency } = cost;
  return amount > 0 && amount < 0.0001 ? `< 0.0001 ${currency}` : `${amount.toFixed(4)} ${currency}`;
}

/** Marks of Markdown in front of a line, and around words. */
const BEFORE = /^[ \t]*(?:#{1,6}|[-*+>]|\d{1,3}\.)[ \t]+/;
const LINK = /!?\[([^\][]{0,200})\]\([^()\s]{0,500}\)/g;
const AROUND = /[*`]{1,3}|__/g;

const SHOWN_CHARS = 300;

/** The first line of a description that may be Markdown, as plain text. */
export function firstLine(text: string): string {
  const line =
    text
      .slice(0, 2 * SHOWN_CHARS)
      .trim()
      .split('\n', 1)[0] ?? '';
  return line.replace(BEFORE, '').replace(LINK, '$1').replace(AROUND, '').slice(0, SHOWN_CHARS);
}

/** JSON text with line breaks and every digit of its numbers. */
export function prettyJson(value: JsonValue | undefined, indent = ''): string {
  if (value === undefined) return '';
  if (value instanceof ExactNumber) return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((one) => inner + prettyJson(one, inner)).join(',\n')}\n${indent}]`;
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(
      ([name, one]) => `${inner}${JSON.stringify(name)}: ${prettyJson(one, inner)}`,
    );
    return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}

/** A text as it is, any other value as JSON text. */
export const textOrJson = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : prettyJson(value);

/** A value as one line for a table: texts as they are, everything else as JSON. A longer one ends with its whole length. */
export function plainText(value: JsonValue | undefined, maxLength = 300): string {
  if (value === undefined || value === null) return '';
  const text = textOrJson(value);
  const isShortened = text.length > maxLength;
  const shown = isShortened ? text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '') : text;
  return shown.replaceAll(/\s+/g, ' ') + (isShortened ? `… (of ${formatCount(text.length)} characters)` : '');
}

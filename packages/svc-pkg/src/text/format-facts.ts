import { printableText } from './printable-text.ts';

/** Formats names and values, one pair per line, the values in one column; leaves out pairs without a value. */
export function formatFacts(
  facts: readonly (readonly [name: string, value: string | number | null | undefined])[],
): string {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printableText(String(value))}\n`).join('');
}

/** `1 item`, `2 items`. */
export function countOf(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

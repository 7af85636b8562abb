import { printableText } from './printable-text.ts';

/** Names and values, one a line, the values in one column; pairs without a value are left out. */
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

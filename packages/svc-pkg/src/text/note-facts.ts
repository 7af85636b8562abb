import { printableValue } from './printable-text.ts';

/** What a response says besides its main facts. */
interface Notes {
  readonly warnings?: readonly string[] | undefined;
  readonly skipped_files?: readonly { readonly name: string; readonly reason: string }[] | undefined;
  readonly skipped_files_total?: number | undefined;
}

/** Files that a text for people names. */
const MAX_NAMED = 10;

/** Warnings, a line each, and in a line the files that are passed over. */
export function noteFacts({
  warnings = [],
  skipped_files: files = [],
  skipped_files_total: total = files.length,
}: Notes): [name: string, value: string][] {
  const named = files.slice(0, MAX_NAMED).map(({ name, reason }) => printableValue(`${name} (${reason})`));
  const more = total > named.length ? ` and ${total - named.length} more` : '';
  return [
    ...warnings.map((warning): [string, string] => ['warning', printableValue(warning)]),
    ...(total === 0 ? [] : [['passed over', `${named.join(', ')}${more}`] satisfies [string, string]]),
  ];
}

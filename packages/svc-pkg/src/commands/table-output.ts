import { extname } from 'node:path';
import { type Command, Option } from 'commander';

/** Formats in which the service sends items and results. */
const TABLE_FORMATS = ['jsonl', 'csv', 'parquet'] as const;

export interface TableOptions {
  readonly format?: string;
  readonly output: string;
  readonly force?: boolean;
}

/** Adds the options of a command that writes a table. */
export function withTableOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--format <format>',
        'format of the output; by default what its name ends with, else jsonl',
      ).choices(TABLE_FORMATS),
    )
    .option('-o, --output <path>', 'file to write to', '-')
    .option('-f, --force', 'replace an existing output');
}

/** The format that was asked for, by its name or by that of the output. */
export function formatOf({ format, output }: TableOptions): string {
  const ending = extname(output).slice(1).toLowerCase();
  return format ?? TABLE_FORMATS.find((known) => known === ending) ?? 'jsonl';
}

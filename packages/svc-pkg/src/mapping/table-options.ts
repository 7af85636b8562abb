import { canonicalJson } from '@svc/jsonl-v23/json';
import { FILE_FORMATS, type FormatHints } from '@svc/tabular';
import { type Command, Option } from 'commander';
import { given } from '../cli-context.ts';
import { type MappingOptions, mappingOf, withMappingOptions } from './mapping-options.ts';

/** The options of commands that read files with tables. */
export type TableOptions = MappingOptions & {
  readonly format?: FormatHints['format'];
  readonly delimiter?: string;
  readonly quote?: string;
  readonly encoding?: string;
  readonly header?: boolean;
};

/** Adds the options of commands that read files with tables. */
export function withTableOptions(command: Command): Command {
  command
    .optionsGroup('Files:')
    .addOption(
      new Option('--format <format>', 'the format, where its detection is wrong').choices(FILE_FORMATS),
    )
    .option('--delimiter <character>', 'what separates the cells of CSV (default: detected)')
    .option('--quote <character>', 'what encloses cells of CSV; empty for none (default: ")')
    .option('--encoding <name>', 'the encoding of a text file (default: detected)')
    .option('--no-header', 'the first row of CSV has no names');
  return withMappingOptions(command);
}

/** What the options say about the format of files; the rest is detected. */
export function hintsOf({ format, delimiter, quote, encoding, header }: TableOptions): FormatHints {
  return {
    ...(format === undefined ? {} : { format }),
    ...(delimiter === undefined ? {} : { delimiter: delimiter === '\\t' ? '\t' : delimiter }),
    ...(quote === undefined ? {} : { quote: quote === '' ? null : quote }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(header === false ? { header } : {}),
  };
}

/**
 * The form fields of an upload that say how to read its tables.
 *
 * @throws CliError `usage`, `io_error`
 */
export async function tableFields(options: TableOptions): Promise<Record<string, string>> {
  const mapping = await mappingOf(options);
  const { format, ...written } = hintsOf(options);
  return given({
    mapping: mapping === null ? undefined : canonicalJson(mapping.wire),
    format,
    options: Object.keys(written).length === 0 ? undefined : JSON.stringify(written),
  }) as Record<string, string>;
}

import { FILE_FORMATS, type FormatHints } from '@svc/tabular';
import { type Command, Option } from 'commander';
import { type MappingOptions, withMappingOptions } from './mapping-options.ts';

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

import { canonicalJson } from '@svc/jsonl-v23/json';
import { FILE_FORMATS, type FormatHints } from '@svc/tabular';
import { given } from '../cli-context.ts';
import { choice, type Flag, grouped, text, unless, type Values } from '../commands/define-operation.ts';
import { mappingFlags, mappingOf } from './mapping-options.ts';

type TableFlags = ReturnType<typeof mappingFlags> &
  Readonly<Record<'delimiter' | 'quote' | 'encoding', Flag<string, false>>> & {
    readonly format: Flag<NonNullable<FormatHints['format']>, false>;
    readonly header: Flag<boolean, true>;
  };
export type TableOptions = Values<TableFlags>;

/** The options of commands that read files with tables. */
export const tableFlags = (): TableFlags => ({
  ...grouped('Files:', {
    format: choice('--format <format>', 'the format, where its detection is wrong', FILE_FORMATS),
    delimiter: text('--delimiter <character>', 'what separates the cells of CSV (default: detected)'),
    quote: text('--quote <character>', 'what encloses cells of CSV; empty for none (default: ")'),
    encoding: text('--encoding <name>', 'the encoding of a text file (default: detected)'),
    header: unless('--no-header', 'the first row of CSV has no names'),
  }),
  ...mappingFlags(),
});

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

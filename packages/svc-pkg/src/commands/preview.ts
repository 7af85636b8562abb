import { stat } from 'node:fs/promises';
import type { BodyOf } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/internal';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23/json';
import { writeMapping } from '@svc/jsonl-v23/mapping';
import { previewFiles, skippedFilesJson } from '@svc/tabular/internal';
import { type Cli, given } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { type LocalFiles, openFiles } from '../local/open-files.ts';
import { printResult } from '../output/print.ts';
import { secretFrom } from '../service/open-service.ts';
import { formatFacts, noteFacts, printableValue, sampleText } from '../text/format.ts';
import { hubFlags, limit, type Operation, operation } from './define-operation.ts';
import { type GivenMapping, hintsOf, mappingOf, type TableOptions, tableFlags } from './table-flags.ts';

type HubPreviewRequest = BodyOf<'/datasets/hub/preview'>;

/** Shows columns and first rows of a file, or of a hub dataset; stores nothing. */
export const preview: Operation = operation({
  summary: 'show columns and first rows of a file or a hub dataset',
  description:
    'Reads the beginning of a file with a table, or makes a service read that of a hub dataset, and suggests options ' +
    'for pack, upload and import-hub. Stores nothing.',
  arguments: {
    path: ['<path>', 'a file, - for standard input, else a dataset on the hub as <owner>/<dataset>'],
  },
  options: { limit: limit('how many rows to show', 100, 3), ...hubFlags(), ...tableFlags() },
  service: true,
  examples: [
    'svc-pkg preview questions.csv',
    'svc-pkg preview openai/gsm8k --subset main',
    'svc-pkg preview openai/gsm8k --split "train[10%:20%]" --limit 10 --json',
  ],
  async run({ path, ...options }, cli, open) {
    const isFile = await stat(path).then(
      (found) => found.isFile() || found.isFIFO(),
      () => false,
    );
    if (isFile || path === '-') return await previewLocally(cli, path, options);
    const { split, subset, revision, limit } = options;
    const token = secretFrom(cli, options.hubTokenEnv, undefined, '--hub-token-env');
    const service = await open();
    const mapping = (await mappingOf(options))?.wire as HubPreviewRequest['mapping'];
    const body = { path, limit, ...given({ split, subset, revision, token, mapping }) };
    const { text } = await service.read(
      service.api.POST('/datasets/hub/preview', { body, bodySerializer: canonicalJson }),
    );
    await printResult(cli, { json: () => text, text: () => previewText(path, parsePreview(text)) });
  },
});

async function previewLocally(
  cli: Cli,
  path: string,
  options: TableOptions & { readonly limit: number },
): Promise<void> {
  const mapping = await mappingOf(options);
  await using opened = await openFiles(cli, [path], { hints: hintsOf(options), isMapped: mapping !== null });
  const preview = await previewLocalFiles(opened, mapping, options.limit, cli.signal);
  await printResult(cli, { json: () => jsonText(preview), text: () => previewText(path, preview) });
}

/** Keeps all digits of the rows' numbers. */
function parsePreview(text: string): JsonObject {
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw new CliError('bad_response', 'The preview that the service returned is not a JSON object');
}

/** The size of the rows of a preview, as services have it by default. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The columns and the first rows of files, as a service previews them, and with a mapping the items that they become.
 *
 * @throws JsonlError `column_not_found`, `invalid_mapping`, or ImportErrors for several; TableError
 */
async function previewLocalFiles(
  opened: LocalFiles,
  given: GivenMapping | null,
  limit: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  const options = { limit, maxBytes: MAX_BYTES, signal };
  const preview = await previewFiles(opened, given?.mapping ?? null, options);
  const { suggestion, items } = preview;
  return {
    kind: preview.kind,
    format: preview.format,
    options: { ...preview.options },
    features: preview.features.map(({ name, dtype }) => ({ name, dtype })),
    samples: [...preview.samples],
    truncated_cells: preview.truncatedCells.map(({ row, column, bytes }) => ({ row, column, bytes })),
    num_rows: preview.numRows,
    info: preview.info,
    ...skippedFilesJson(preview.skipped),
    suggested_mapping: suggestion === null ? null : writeMapping(suggestion.mapping),
    suggested_mapping_reasons: { ...suggestion?.reasons },
    ...(items === null
      ? {}
      : {
          items: items.map((shown) => {
            if ('item' in shown) return { row: shown.row, item: shown.item };
            const { code, message } = shown.error;
            return { row: shown.row, error: { code, message } };
          }),
        }),
  };
}

/** Text for people lists this many splits and columns, and counts the rest. */
const MAX_SPLITS = 20;
const MAX_COLUMNS = 100;
const MAX_WARNINGS = 10;

/** A preview for people: the split, its columns, a suggested mapping, warnings, and the first rows. */
export function previewText(path: string, preview: JsonObject): string {
  const text = (key: string): string | null => textOf(getMember(preview, key));
  const features = objectsOf(getMember(preview, 'features'));
  const samples = listOf(getMember(preview, 'samples'));
  const mapping = getMember(preview, 'suggested_mapping');
  const facts = formatFacts([
    ['dataset', path],
    ['subset', text('subset')],
    ['split', text('split')],
    ['revision', text('resolved_revision')],
    ['rows', text('num_rows')],
    ['splits', splitsText(objectsOf(getMember(preview, 'splits')))],
    ['suggested', isJsonObject(mapping) ? mappingOptions(mapping) : null],
    ...noteFacts({ warnings: warningsOf(preview), ...skippedOf(preview) }),
  ]);
  const more = features.length - MAX_COLUMNS;
  const columns = features.slice(0, MAX_COLUMNS).map((feature) => {
    const name = textOf(getMember(feature, 'name')) ?? '';
    return [`  ${printableValue(name)}`, printableValue(textOf(getMember(feature, 'dtype')) ?? '')] as const;
  });
  return [
    facts,
    '\ncolumns\n',
    formatFacts(columns),
    ...(more > 0 ? [`  ... and ${more} more\n`] : []),
    ...(samples.length > 0 ? ['\nfirst rows\n'] : []),
    ...samples.map((row, index) => `  ${index}\n${sampleText(row, '    ')}`),
  ].join('');
}

function warningsOf(preview: JsonObject): readonly string[] {
  const info = getMember(preview, 'info');
  const warnings = listOf(isJsonObject(info) ? getMember(info, 'warnings') : undefined);
  return warnings.filter((warning) => typeof warning === 'string').slice(0, MAX_WARNINGS);
}

function skippedOf(preview: JsonObject): Parameters<typeof noteFacts>[0] {
  const files = objectsOf(getMember(preview, 'skipped_files')).map((file) => ({
    name: textOf(getMember(file, 'name')) ?? '',
    reason: textOf(getMember(file, 'reason')) ?? '',
  }));
  const total = getMember(preview, 'skipped_files_total') ?? files.length;
  return { skipped_files: files, skipped_files_total: Number(total) };
}

function splitsText(splits: readonly JsonObject[]): string {
  const shown = splits.slice(0, MAX_SPLITS).map((split) => {
    const [subset, name, rows] = ['subset', 'split', 'num_rows'].map((key) => textOf(getMember(split, key)));
    return `${subset === null ? '' : `${subset}/`}${name}${rows === null ? '' : ` (${rows})`}`;
  });
  const more = splits.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/**
 * A mapping as the options of `import-hub`, ready for a shell.
 *
 * @example mappingOptions({ prompt_column: 'the question' }) // "--prompt-column 'the question'"
 */
function mappingOptions(mapping: JsonObject): string {
  return Object.entries(mapping)
    .flatMap(([key, value]) => {
      const values = optionValues(value).filter((entry) => typeof entry === 'string');
      return values.length === 0 ? [] : [`--${key.replaceAll('_', '-')}`, ...values.map(shellWord)];
    })
    .join(' ');
}

/** An object from keys to columns becomes `key=column`, or `column` if both are equal. */
function optionValues(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return [value];
  return Object.entries(value).map(([key, column]) =>
    key === column && !key.includes('=') ? key : `${key}=${column}`,
  );
}

/** Quotes a word for POSIX shells if necessary. */
function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

const objectsOf = (value: JsonValue | undefined): JsonObject[] => listOf(value).filter(isJsonObject);

const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;

import { stat } from 'node:fs/promises';
import type { BodyOf, ResponseOf } from '@svc/client';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, jsonText } from '@svc/jsonl-v23/json';
import { writeMapping } from '@svc/jsonl-v23/mapping';
import { previewFiles, skippedFilesJson } from '@svc/tabular/datasets';
import { type Cli, given } from '../cli-context.ts';
import { openFiles } from '../local/open-files.ts';
import { printResult } from '../output/print.ts';
import { secretFrom } from '../service/open-service.ts';
import { formatFacts, noteFacts, printableValue, sampleText } from '../text/format.ts';
import { hubFlags, limit, operation } from './define-operation.ts';
import { hintsOf, mappingOf, type TableOptions, tableFlags } from './table-flags.ts';

type HubPreviewRequest = BodyOf<'/datasets/hub/preview'>;

/** Members of a preview of a service, some of which a preview of local files lacks. */
type Preview = Partial<ResponseOf<'/datasets/hub/preview', 'post'>> & Parameters<typeof noteFacts>[0];

export const preview = operation({
  summary: 'show columns and first rows of a file or a hub dataset',
  description:
    'Reads the beginning of a file with a table, or makes a service read that of a hub dataset, and suggests options ' +
    'for pack, upload and import-hub. Stores nothing.',
  arguments: {
    path: ['<path>', 'a file, - for standard input, else a dataset on the hub as <owner>/<dataset>'],
  },
  options: { limit: limit('how many rows to show', 100, 3), ...hubFlags(), ...tableFlags() },
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
    const { text, value } = await service.read(
      service.api.POST('/datasets/hub/preview', { body, bodySerializer: canonicalJson }),
    );
    await printResult(cli, { json: () => text, text: () => previewText(path, value) });
  },
});

/** The size of the rows of a preview, as services have it by default. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Previews a file as a service does, with a mapping also the items that its rows become. */
async function previewLocally(
  cli: Cli,
  path: string,
  { limit, ...options }: TableOptions & { readonly limit: number },
): Promise<void> {
  const given = await mappingOf(options);
  await using opened = await openFiles(cli, [path], { hints: hintsOf(options), isMapped: given !== null });
  const how = { limit, maxBytes: MAX_BYTES, signal: cli.signal };
  const found = await previewFiles(opened, given?.mapping ?? null, how);
  const { suggestion, items } = found;
  const preview = {
    kind: found.kind,
    format: found.format,
    options: { ...found.options },
    features: found.features.map(({ name, dtype }) => ({ name, dtype })),
    samples: [...found.samples],
    truncated_cells: found.truncatedCells.map(({ row, column, bytes }) => ({ row, column, bytes })),
    num_rows: found.numRows,
    info: found.info,
    ...skippedFilesJson(found.skipped),
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
  await printResult(cli, {
    json: () => jsonText(preview),
    text: () => previewText(path, preview as Preview),
  });
}

/** Text for people lists this many splits and columns, and counts the rest. */
const MAX_SPLITS = 20;
const MAX_COLUMNS = 100;
const MAX_WARNINGS = 10;

/** A preview for people: the split, its columns, a suggested mapping, warnings, and the first rows. */
function previewText(path: string, preview: Preview): string {
  const { features = [], samples = [], splits = [], suggested_mapping: mapping, info } = preview;
  const warnings = Array.isArray(info?.['warnings']) ? info['warnings'].slice(0, MAX_WARNINGS) : [];
  const facts = formatFacts([
    ['dataset', path],
    ['subset', preview.subset],
    ['split', preview.split],
    ['revision', preview.resolved_revision],
    ['rows', preview.num_rows],
    ['splits', splitsText(splits)],
    ['suggested', mapping && mappingOptions(mapping as JsonObject)],
    ...noteFacts({ ...preview, warnings }),
  ]);
  const more = features.length - MAX_COLUMNS;
  const columns = features
    .slice(0, MAX_COLUMNS)
    .map(({ name, dtype }) => [`  ${printableValue(name)}`, printableValue(dtype)] as const);
  return [
    facts,
    '\ncolumns\n',
    formatFacts(columns),
    ...(more > 0 ? [`  ... and ${more} more\n`] : []),
    ...(samples.length > 0 ? ['\nfirst rows\n'] : []),
    ...samples.map((row, index) => `  ${index}\n${sampleText(row, '    ')}`),
  ].join('');
}

function splitsText(splits: NonNullable<Preview['splits']>): string {
  const shown = splits
    .slice(0, MAX_SPLITS)
    .map(({ subset, split, num_rows: rows }) => `${subset}/${split}${rows === null ? '' : ` (${rows})`}`);
  const more = splits.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** A mapping as the options of `import-hub`, ready for a shell: `--prompt-column 'the question'`. */
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

import { stat } from 'node:fs/promises';
import type { BodyOf } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/internal';
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { writeMapping } from '@svc/jsonl-v23/mapping';
import { previewFiles, skippedFilesJson } from '@svc/tabular/internal';
import { type Cli, given } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { type LocalFiles, openFiles } from '../local/open-files.ts';
import { type GivenMapping, mappingOf } from '../mapping/mapping-options.ts';
import { hintsOf, type TableOptions, tableFlags } from '../mapping/table-options.ts';
import { printResult } from '../output/print.ts';
import { secretFrom } from '../service/open-service.ts';
import { previewText } from '../service/preview-response.ts';
import { hubFlags, limit, type Operation, operation } from './define-operation.ts';

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

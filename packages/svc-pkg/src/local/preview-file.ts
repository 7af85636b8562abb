import type { JsonObject } from '@svc/jsonl-v23/json';
import { writeMapping } from '@svc/jsonl-v23/mapping';
import { previewFiles, skippedFilesJson } from '@svc/tabular/internal';
import type { GivenMapping } from '../mapping/mapping-options.ts';
import type { LocalFiles } from './open-files.ts';

/** The size of the rows of a preview, as services have it by default. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The columns and the first rows of files, as a service previews them, and with a mapping the items that they become.
 *
 * @throws JsonlError `column_not_found`, `invalid_mapping`, or ImportErrors for several; TableError
 */
export async function previewLocalFiles(
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

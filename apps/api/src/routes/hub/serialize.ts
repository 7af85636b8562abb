import type { JsonlError } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { writeMapping } from '@svc/jsonl-v23/mapping';
import { type JsonBody, JsonText } from '@svc/service';
import {
  type DryRun,
  type ImportError,
  importNotesJson,
  type Preview,
  type PreviewItem,
  type PreviewRows,
  type SkippedFiles,
  skippedFilesJson,
} from '@svc/service/flows';
import { sentence } from '../../http/problem.ts';

/** A preview as JSON. */
export function serializePreview(preview: Preview): JsonBody {
  return {
    features: preview.features.map(({ name, dtype }) => ({ name, dtype })),
    num_rows: preview.numRows,
    info: new JsonText(canonicalJson(preview.info)),
    subset: preview.subset,
    split: preview.split,
    resolved_revision: preview.resolvedRevision,
    splits: preview.splits.map(({ subset, split, numRows }) => ({ subset, split, num_rows: numRows })),
    ...serializeRows(preview),
  };
}

/** The first rows of a preview as JSON, with the suggested mapping and the items that a mapping makes. */
export function serializeRows({ samples, truncatedCells, suggestion, items }: PreviewRows): {
  readonly [key: string]: JsonBody;
} {
  return {
    // Not canonical: this keeps the order of the columns.
    samples: samples.map((sample) => new JsonText(JSON.stringify(sample))),
    truncated_cells: truncatedCells.map(({ row, column, bytes }) => ({ row, column, bytes })),
    suggested_mapping:
      suggestion === null ? null : new JsonText(JSON.stringify(writeMapping(suggestion.mapping))),
    suggested_mapping_reasons: suggestion === null ? null : { ...suggestion.reasons },
    ...(items === null ? {} : { items: items.map(serializeItem) }),
  };
}

function serializeItem(shown: PreviewItem): JsonBody {
  return 'item' in shown
    ? { row: shown.row, item: new JsonText(canonicalJson(shown.item)) }
    : { row: shown.row, error: serializeRowError(shown.error) };
}

function serializeRowError({ message, code, location }: ImportError): JsonBody {
  const { file, line, column, row, path } = location;
  return { message: sentence(message), code, file, line, column, row, path };
}

/** The result of a dry run as JSON. */
export function serializeDryRun({
  itemCount,
  versionHash,
  change,
  errors,
  errorsTotal,
  skipped,
  ...notes
}: DryRun): JsonBody {
  return {
    item_count: itemCount,
    version_hash: versionHash,
    ...(change === null ? {} : { change: { ...change } }),
    errors: errors.map(serializeRowError),
    errors_total: errorsTotal,
    ...(skipped === null
      ? {}
      : { skipped: { count: skipped.total, rows: skipped.first.map(serializeSkippedRow) } }),
    ...importNotesJson(notes),
  };
}

/** Files that are passed over, as members of a response; none if there are none. */
export function serializeSkippedFiles(skipped: SkippedFiles | undefined): Record<string, JsonBody> {
  return skipped === undefined ? {} : (skippedFilesJson(skipped) as Record<string, JsonBody>);
}

function serializeSkippedRow({ message, location: { file, line, row } }: JsonlError): JsonBody {
  return { row, message, file, line };
}

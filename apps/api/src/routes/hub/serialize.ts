import type { DryRun, Preview } from '@svc/flows';
import type { Mapping } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { type JsonBody, JsonText } from '@svc/runtime';

function serializeMapping(mapping: Mapping): JsonBody {
  return {
    prompt_column: mapping.promptColumn,
    answer_column: mapping.answerColumn,
    default_type: mapping.defaultType,
    meta_columns: mapping.metaColumns,
    criteria_columns: mapping.criteriaColumns,
    choices_column: mapping.choicesColumn,
    assets_column: mapping.assetsColumn,
    system_prompt_column: mapping.systemPromptColumn,
    id_column: mapping.idColumn,
  };
}

/** A preview as JSON. */
export function serializePreview(preview: Preview): JsonBody {
  return {
    features: preview.features.map(({ name, dtype }) => ({ name, dtype })),
    // Not canonical: this keeps the order of the columns.
    samples: preview.samples.map((sample) => new JsonText(JSON.stringify(sample))),
    num_rows: preview.numRows,
    info: new JsonText(canonicalJson(preview.info)),
    subset: preview.subset,
    split: preview.split,
    resolved_revision: preview.resolvedRevision,
    splits: preview.splits.map(({ subset, split, numRows }) => ({ subset, split, num_rows: numRows })),
    suggested_mapping: preview.suggestedMapping === null ? null : serializeMapping(preview.suggestedMapping),
    truncated_cells: preview.truncatedCells.map(({ row, column, bytes }) => ({ row, column, bytes })),
  };
}

/** The result of a dry run as JSON. */
export function serializeDryRun(result: DryRun): JsonBody {
  return {
    item_count: result.itemCount,
    version_hash: result.versionHash,
    errors: result.errors.map(({ message, code, location }) => ({
      message,
      code,
      row: location.row,
      path: location.path,
    })),
    errors_total: result.errorsTotal,
  };
}

import type { JsonObject } from '@svc/jsonl-v23/json';
import type { DataFormat } from '../format.ts';
import type { RawRow, TextColumns } from '../text/raw-row.ts';
import { applyDeclared } from './apply-declared.ts';
import { type Convert, castTo, completeJson, parseField, toRow } from './cast.ts';
import { DeclaredColumns } from './declared-columns.ts';
import { type Features, valueFeature } from './features.ts';
import { CsvInference } from './infer-csv.ts';
import { JsonInference } from './infer-json.ts';

/** Formats whose files do not declare the types of their columns. */
export type TextFormat = Exclude<DataFormat, 'parquet'>;

/** The columns of a table, and the conversion of its rows. */
export interface Schema {
  readonly features: Features;
  /** What reading changes in the values of the rows that were seen, one sentence each. */
  readonly warnings: readonly string[];
  /** Adds null for every column that the row does not have, and converts the others; further members stay. */
  toRow(row: JsonObject): JsonObject;
}

/** Infers a schema from rows. */
export interface SchemaBuilder {
  add(row: RawRow): void;
  finish(): Schema;
}

/** What is known of the columns before a row is seen. */
export interface InferOptions {
  /** Declared types, which take precedence over inferred ones. */
  readonly declared?: Features | undefined;
  /** Columns whose values are not converted. */
  readonly textColumns?: TextColumns | undefined;
}

/** Rows from which a schema is inferred: so many characters, but no more than so many rows. */
export const INFERENCE_WINDOW_SIZE: number = 4 * 1024 * 1024;
export const INFERENCE_WINDOW_ROWS = 20_000;

/**
 * Infers the columns of text files from the first rows, because a stream is read once: the rows that `add` has seen
 * decide, and all rows are then converted. A type changes few values, so that this matters little:
 *
 * - JSON: texts of a timestamp[s] column are completed (`2020-01-01` becomes `2020-01-01T00:00:00`). Other values stay:
 *   int64 and float64, structs and json are names for the same values. Missing columns are null.
 * - CSV: texts become numbers or booleans if the column is numeric or boolean.
 * - Values of declared columns are cast to the declared type if they allow it; a warning names columns where one does not.
 *
 * A later value that contradicts its column's type is not an error and stays as it is. So the result depends on the
 * window in two cases: a CSV column that is numeric in the window and has text after it, and a JSON column whose texts
 * are all timestamps in the window and something else after it. Their values in the window are converted.
 *
 */
export function inferSchema(
  format: TextFormat,
  { declared, textColumns = new Set() }: InferOptions = {},
): SchemaBuilder {
  const inference = format === 'json' ? new JsonInference() : format === 'csv' ? new CsvInference() : null;
  const declaredNames = new Set(declared?.map(({ name }) => name));
  const casts = new Map<string, Convert>(
    declared?.map(({ name, feature }) => [name, castTo(feature, { isCsv: format === 'csv' })]),
  );
  // Without declared types, `all` has no columns to name.
  const names: ReadonlySet<string> = textColumns === 'all' ? new Set() : textColumns;
  for (const name of names) casts.set(name, asIs);
  const declaredColumns = new DeclaredColumns(declared?.filter(({ name }) => !names.has(name)) ?? [], casts);
  return {
    add: (row) => {
      inference?.add(row);
      declaredColumns.add(row.row);
    },
    finish: () => {
      const inferred = inference?.features() ?? [{ name: 'text', feature: valueFeature('string') }];
      const features = withDeclared(inferred, declared);
      const columns = features.map(({ name, feature }) => ({
        name,
        convert:
          casts.get(name) ??
          (textColumns === 'all' ? asIs : format === 'csv' ? parseField(feature) : completeJson(feature)),
      }));
      const given = new Set([...declaredNames, ...names]);
      const warnings = [...(inference?.warnings(given) ?? []), ...declaredColumns.warnings()];
      return { features, warnings, toRow: (row) => toRow(row, columns) };
    },
  };
}

const asIs: Convert = (value) => value;

/** Replaces inferred types by declared ones, whatever they are, and adds declared columns that no row has. */
function withDeclared(inferred: Features, declared: Features | undefined): Features {
  const open = inferred.map(({ name }) => ({ name, feature: valueFeature('null') }));
  const overlaid = applyDeclared(open, declared, { addMissing: true });
  const types = new Map(inferred.map(({ name, feature }) => [name, feature]));
  const names = new Set(declared?.map(({ name }) => name));
  return overlaid.map((column) => {
    const type = types.get(column.name);
    return names.has(column.name) || type === undefined ? column : { name: column.name, feature: type };
  });
}

import type { JsonValue } from '@svc/jsonl-v23/json';
import type { DataFormat } from '../files/file-format.ts';
import type { RawRow, TextColumns } from '../text/raw-row.ts';
import { applyDeclared, byName } from './apply-declared.ts';
import { asIs, type Convert, castTo } from './cast.ts';
import { DeclaredColumns } from './declared-columns.ts';
import { type Feature, type Features, valueFeature } from './features.ts';

/** Formats whose files do not declare the types of their columns. */
export type TextFormat = Exclude<DataFormat, 'parquet'>;

/** The columns of a table, and the conversion of its rows. */
export interface Schema {
  readonly features: Features;
  /** What reading changes in the values of the rows that were seen, one sentence each. */
  readonly warnings: readonly string[];
  /** How the values of each column are converted. */
  readonly converts: ReadonlyMap<string, Convert>;
}

/** Infers a schema from rows. */
export interface SchemaBuilder<Row = RawRow> {
  add(row: Row): void;
  finish(): Schema;
}

/** What is known of the columns before a row is seen. */
export interface InferOptions {
  /** Declared types, which take precedence over inferred ones. */
  readonly declared?: Features | undefined;
  /** Columns whose values are not converted. */
  readonly textColumns?: TextColumns | undefined;
}

/** Limits of the rows from which a schema is inferred, in characters and in rows. */
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
 */
export function inferSchema<Row>(
  inference: Inference<Row>,
  { declared, textColumns = new Set() }: InferOptions = {},
): SchemaBuilder<Row> {
  const declaredNames = new Set(declared?.map(({ name }) => name));
  const casts = new Map<string, Convert>(
    declared?.map(({ name, feature }) => [name, castTo(feature, inference)]),
  );
  // Without declared types, `all` has no columns to name.
  const names: ReadonlySet<string> = textColumns === 'all' ? new Set() : textColumns;
  for (const name of names) casts.set(name, asIs);
  const declaredColumns = new DeclaredColumns(declared?.filter(({ name }) => !names.has(name)) ?? [], casts);
  return {
    add: (row) => {
      inference.add(row);
      declaredColumns.add((name) => inference.valueOf(row, name));
    },
    finish: () => {
      const features = withDeclared(inference.features(), declared);
      const convertOf = (feature: Feature): Convert =>
        textColumns === 'all' ? asIs : inference.convert(feature);
      const converts = new Map(
        features.map(({ name, feature }) => [name, casts.get(name) ?? convertOf(feature)]),
      );
      const warnings = [
        ...inference.warnings(new Set([...declaredNames, ...names])),
        ...declaredColumns.warnings(),
      ];
      return { features, warnings, converts };
    },
  };
}

/** Replaces inferred types by declared ones, whatever they are, and adds declared columns that no row has. */
function withDeclared(inferred: Features, declared: Features | undefined): Features {
  const open = inferred.map(({ name }) => ({ name, feature: valueFeature('null') }));
  const overlaid = applyDeclared(open, declared, { addMissing: true });
  const types = byName(inferred);
  const names = new Set(declared?.map(({ name }) => name));
  return overlaid.map((column) => {
    const type = types.get(column.name);
    return names.has(column.name) || type === undefined ? column : { name: column.name, feature: type };
  });
}

/** Infers the columns of one format. */
export interface Inference<Row> {
  /** Whether all values are texts, so that digits are a number. */
  readonly isCsv: boolean;
  add(row: Row): void;
  /** The value of a column in a row; undefined if the row does not have the column. */
  valueOf(row: Row, name: string): JsonValue | undefined;
  features(): Features;
  /** @param declaredNames columns whose type is not inferred */
  warnings(declaredNames: ReadonlySet<string>): string[];
  /** How the values of an inferred type are converted. */
  convert(feature: Feature): Convert;
}

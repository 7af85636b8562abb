import type { JsonValue } from '@svc/jsonl-v23/json';
import type { FormatOptions, RawRow } from '../text/raw-row.ts';
import { byName } from './apply-declared.ts';
import { asIs, type Convert, castTo, completeJson, parseField } from './cast.ts';
import { DeclaredColumns } from './declared-columns.ts';
import type { Feature, Features } from './features.ts';

export interface Schema {
  readonly features: Features;
  /** What reading changes in the values of the rows that were seen, one sentence each. */
  readonly warnings: readonly string[];
  readonly converts: ReadonlyMap<string, Convert>;
}

export interface SchemaBuilder<Row = RawRow> {
  add(row: Row): void;
  finish(): Schema;
}

interface InferOptions extends Pick<FormatOptions, 'textColumns'> {
  readonly declared?: Features | undefined;
}

/** Limits of the rows from which a schema is inferred, in characters and in rows. */
export const INFERENCE_WINDOW_SIZE: number = 4 * 1024 * 1024;
export const INFERENCE_WINDOW_ROWS = 20_000;

/**
 * Infers the columns of text files from the first rows, because a stream is read once: the rows that `add` has seen
 * decide, and all rows are then converted. A later value that contradicts its column's type is not an error and stays as it
 * is; `docs/hub-import.md` lists what types change.
 */
export function inferSchema<Row>(
  inference: Inference<Row>,
  { declared = [], textColumns = new Set() }: InferOptions = {},
): SchemaBuilder<Row> {
  const declaredNames = new Set(declared.map(({ name }) => name));
  const casts = new Map<string, Convert>(
    declared.map(({ name, feature }) => [name, castTo(feature, inference.isCsv)]),
  );
  // Without declared types, `all` has no columns to name.
  const names: ReadonlySet<string> = textColumns === 'all' ? new Set() : textColumns;
  for (const name of names) casts.set(name, asIs);
  const declaredColumns = new DeclaredColumns(
    declared.filter(({ name }) => !names.has(name)),
    casts,
  );
  return {
    add: (row) => {
      inference.add(row);
      declaredColumns.add((name) => inference.valueOf(row, name));
    },
    finish: () => {
      const features = withDeclared(inference.features(), declared);
      const convertOf = (feature: Feature): Convert => {
        if (textColumns === 'all') return asIs;
        return inference.isCsv ? parseField(feature) : completeJson(feature);
      };
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
function withDeclared(inferred: Features, declared: Features): Features {
  const types = byName(declared);
  const present = new Set(inferred.map(({ name }) => name));
  return [
    ...inferred.map(({ name, feature }) => ({ name, feature: types.get(name) ?? feature })),
    ...declared.filter(({ name }) => !present.has(name)),
  ];
}

export interface Inference<Row> {
  /** Whether all values are texts, so that digits are a number. */
  readonly isCsv: boolean;
  add(row: Row): void;
  /** The value of a column in a row; undefined if the row does not have the column. */
  valueOf(row: Row, name: string): JsonValue | undefined;
  features(): Features;
  /** @param declaredNames columns whose type is not inferred */
  warnings(declaredNames: ReadonlySet<string>): string[];
}

import type { JsonValue } from '@svc/jsonl-v23/json';
import type { Convert } from './cast.ts';
import type { Feature, Features } from './features.ts';

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

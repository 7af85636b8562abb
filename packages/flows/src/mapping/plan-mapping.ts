import { mappedColumns } from '@svc/jsonl-v23/internal';
import { compileMapping, type MappableFeature, type Mapping } from '@svc/jsonl-v23/mapping';
import type { MappingPlan } from '@svc/store';
import { missingColumns } from './missing-columns.ts';

/** What a mapping reads of a table, and how its rows become items. */
export interface TablePlan {
  /** The columns to read. */
  readonly columns: readonly string[];
  /** For the draft. */
  readonly plan: MappingPlan;
}

/**
 * Plans how the rows of a table become items, and reports errors of the mapping before the first row is read.
 *
 * @param unreadRow the row at which looking for columns ended early
 * @param hint why the table may have other columns than expected
 * @throws JsonlError, or ImportErrors for several columns, `column_not_found`; JsonlError `invalid_mapping`; `unreadRow` where a column is missing that may belong to it, since no import gets beyond that row
 */
export function planMapping(
  mapping: Mapping,
  features: readonly MappableFeature[],
  maxItemBytes: number,
  unreadRow?: Error,
  hint?: string,
): TablePlan {
  const columns = mappedColumns(mapping);
  const missing = missingColumns(
    mapping,
    features.map(({ name }) => name),
    hint,
  );
  if (missing !== null) throw unreadRow ?? missing;
  const used = new Set([...columns, ...Object.keys(mapping.types ?? {})]);
  // A table may have many columns that the mapping does not use.
  const known = features.filter(({ name }) => used.has(name));
  compileMapping(mapping, known);
  return { columns, plan: { mapping, features: known, maxItemBytes } };
}

/** The columns whose types the mapping gives. */
export function typedColumns({ types = {} }: Mapping): ReadonlySet<string> {
  return new Set(Object.keys(types));
}

/** The columns of a table, with the types that the mapping gives. */
export function withTypes(features: readonly MappableFeature[], mapping: Mapping | null): MappableFeature[] {
  const types = new Map(Object.entries(mapping?.types ?? {}));
  return features.map((feature) => {
    const dtype = types.get(feature.name);
    return dtype === undefined ? feature : { name: feature.name, dtype };
  });
}

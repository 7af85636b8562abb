import type { KnownItemType } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { Mapping } from '@svc/jsonl-v23/mapping';

/** The types that the format defines; any other is allowed. */
const DEFINED_TYPES: Readonly<Record<KnownItemType, true>> = {
  freeform: true,
  multiple_choice: true,
  exact: true,
  numeric: true,
  code: true,
};

/** What is allowed in a mapping and probably a mistake, one sentence each. */
export function mappingWarnings({ defaultType }: Pick<Mapping, 'defaultType'>): string[] {
  if (defaultType === undefined || Object.hasOwn(DEFINED_TYPES, defaultType)) return [];
  const type = JSON.stringify(defaultType.slice(0, 100));
  const known = Object.keys(DEFINED_TYPES).join(', ');
  return [
    `The format does not define the item type ${type}, only ${known}: runs score such items by a checker or a judge alone.`,
  ];
}

/** What is probably a mistake in items: that there is nothing to ask. @param among what they are counted among, if not all */
export function promptWarnings(count: number, among?: string): string[] {
  if (count === 0) return [];
  const items = count === 1 ? '1 item has' : `${count} items have`;
  return [
    `${items} neither a prompt nor messages${among === undefined ? '' : `, of ${among}`}: runs do not ask a model for them.`,
  ];
}

/** Names that a response lists. */
const MAX_LISTED = 100;

/** What responses say of columns that no key of a mapping uses: nothing if there are none. */
export function unusedColumnsJson(columns: Iterable<string>): JsonObject {
  const names = [...columns];
  if (names.length === 0) return {};
  const total = names.length > MAX_LISTED ? { unused_columns_total: names.length } : {};
  return { unused_columns: names.slice(0, MAX_LISTED), ...total };
}

/** Adds to the `warnings` of a preview's `info`. */
export function withWarnings(info: JsonObject, warnings: readonly string[]): JsonObject {
  if (warnings.length === 0) return info;
  const before = info['warnings'];
  return { ...info, warnings: [...(Array.isArray(before) ? before : []), ...warnings] };
}

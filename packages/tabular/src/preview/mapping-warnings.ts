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

/** Adds to the `warnings` of a preview's `info`. */
export function withWarnings(info: JsonObject, warnings: readonly string[]): JsonObject {
  if (warnings.length === 0) return info;
  const before = info['warnings'];
  return { ...info, warnings: [...(Array.isArray(before) ? before : []), ...warnings] };
}

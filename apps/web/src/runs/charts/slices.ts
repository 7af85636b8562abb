import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useOverview } from '../../datasets/overview/use-overview.ts';
import { pointerOf } from '../../ui/pointer-of.ts';
import { plainText, prettyJson } from '../../ui/text/pretty-json.ts';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';

/** What a run can be sliced by: a JSON Pointer into its items. */
export interface SliceKey {
  readonly value: string;
  readonly label: string;
}

/** The scores of some results with what they have in common. */
export interface Slice {
  readonly values: readonly unknown[];
  readonly mean: number | null;
  readonly ci95: readonly number[] | null;
  readonly results: number;
}

const TYPE: SliceKey = { value: '/type', label: 'type' };

/** The keys of the metadata of the items, and their type. */
export function useSliceKeys(run: Run): readonly SliceKey[] {
  const keys = useOverview({ id: run.dataset_id, version: run.dataset_version }).data?.metaKeys ?? [];
  return [...keys.map((key) => ({ value: pointerOf('meta', key), label: key })), TYPE];
}

/** A value of a slice as it is shown. */
export const sliceName = (value: unknown): string => plainText(value as JsonValue, 100) || 'none';

/** The results of a slice as filters; undefined where no filter has them. */
export function sliceFilter(pointer: string, value: unknown): Partial<RunSearch> | undefined {
  const stated = value as JsonValue;
  if (stated === null || Array.isArray(stated) || isJsonObject(stated)) return undefined;
  const text = typeof stated === 'string' ? stated : prettyJson(stated);
  if (text === '') return undefined;
  return pointer === TYPE.value ? { type: text } : { [`meta.${pointer.slice('/meta'.length)}`]: text };
}

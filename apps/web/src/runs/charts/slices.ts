import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import { overviewQuery } from '../../datasets/queries.ts';
import { pointerName } from '../../ui/pointer-of.ts';
import { plainText, textOrJson } from '../../ui/text/pretty-json.ts';
import type { Run } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';

/** What a run can be sliced by: `section`, `tag`, or a JSON Pointer into its items. */
export interface SliceKey {
  readonly value: string;
  readonly label: string;
}

/** The scores of some results with what they have in common. */
export interface Slice {
  readonly values: readonly unknown[];
  readonly mean: number | null;
  readonly ci95: readonly number[] | null;
  /** Scored results. */
  readonly ok: number;
}

const TYPE: SliceKey = { value: '/type', label: 'type' };
const [SECTION, TAG] = ['section', 'tag'].map((name) => ({ value: name, label: name })) as [
  SliceKey,
  SliceKey,
];

/** Keys by which each run has scores: the scores of its main scorer come with it. */
export const COMMON_KEYS: readonly SliceKey[] = [SECTION, TYPE, TAG];

/** The keys of the metadata of the items, and the common ones. */
export function useSliceKeys(run: Run): readonly SliceKey[] {
  const keys =
    useQuery(overviewQuery({ id: run.dataset_id, version: run.dataset_version })).data?.slicingKeys ?? [];
  return [
    ...keys.map((pointer) => ({ value: `/meta${pointer}`, label: pointerName(pointer) })),
    ...COMMON_KEYS,
  ];
}

/** The scores of a run by one key, or by two. */
export function useSlices(run: Run, by: readonly string[], scorer: string | undefined) {
  return useQuery({
    queryKey: ['slices', run.id, by, scorer, run.finished_at],
    queryFn: ({ signal }) =>
      get('/runs/{id}/slices', { path: { id: run.id }, query: { by: [...by], scorer } }, signal),
    enabled: by.length > 0,
  });
}

/** A value of a slice, whole: slices have no longer ones. */
export const sliceName = (value: unknown): string => plainText(value as JsonValue, 1_000) || 'none';

/** The results of a slice as filters; undefined if no filter has them. */
export function sliceFilter(key: string, value: unknown): RunSearch | undefined {
  const stated = value as JsonValue;
  if (stated === null || Array.isArray(stated) || isJsonObject(stated)) return undefined;
  const text = textOrJson(stated);
  if (text === '') return undefined;
  const common = COMMON_KEYS.find((one) => one.value === key);
  return { [common?.label ?? `meta.${key.slice('/meta'.length)}`]: text };
}

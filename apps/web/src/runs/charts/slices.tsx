import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/api.ts';
import { overviewQuery } from '../../datasets/queries.ts';
import { type GroupScore, groupScores, ScoreBars } from '../../ui/charts/bars.tsx';
import { pointerName } from '../../ui/pointer-of.ts';
import { isShown, QueryState } from '../../ui/query-state.tsx';
import { plainText, textOrJson } from '../../ui/text/formats.ts';
import type { Run } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';

/** What a run can be sliced by: `section`, `tag`, or a JSON Pointer into its items. */
export interface SliceKey {
  readonly value: string;
  readonly label: string;
  /** Where a run has the scores of its main scorer by this. */
  readonly scores?: 'by_section' | 'by_type' | 'by_tag';
}

/** Keys by which each run has scores: the scores of its main scorer come with it. */
export const COMMON_KEYS: readonly SliceKey[] = [
  { value: 'section', label: 'section', scores: 'by_section' },
  { value: '/type', label: 'type', scores: 'by_type' },
  { value: 'tag', label: 'tag', scores: 'by_tag' },
];

/** While a run works. */
export const REFRESH_MS = 5_000;

export function useSliceKeys(run: Run): readonly SliceKey[] {
  const keys =
    useQuery(overviewQuery({ id: run.dataset_id, version: run.dataset_version })).data?.slicingKeys ?? [];
  return [
    ...keys.map((pointer) => ({ value: `/meta${pointer}`, label: pointerName(pointer) })),
    ...COMMON_KEYS,
  ];
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

/** The scores of a run by one key, the best first; each links to its results. */
export function SliceBars(props: {
  readonly run: Run;
  readonly of: SliceKey;
  /** The scorer of the scores; the main one without it. */
  readonly scorer: string | undefined;
  readonly onChoose: (filters: RunSearch) => void;
}) {
  const { run, scorer, onChoose } = props;
  const { value: by, label, scores } = props.of;
  const known = scorer === undefined && scores !== undefined ? groupScores(run.scores[scores]) : undefined;
  const found = useQuery({
    ...apiQuery(['slices', run.id, by, scorer, run.finished_at], '/runs/{id}/slices', {
      path: { id: run.id },
      query: { by: [by], scorer },
    }),
    enabled: known === undefined,
    refetchInterval: run.finished_at === null && REFRESH_MS,
  });
  if (known === undefined && !isShown(found)) return <QueryState query={found} rows={2} />;
  const slices = found.data?.data ?? [];
  const values = new Map(slices.map(({ values: [value] }) => [sliceName(value), value]));
  const read = slices.flatMap(({ values: [value], mean, ci95, ok }): GroupScore[] =>
    mean === null ? [] : [{ name: sliceName(value), mean, ci95, count: ok }],
  );
  const groups = known ?? read.sort((a, b) => b.mean - a.mean);
  // one section or type has the score of the run
  if (groups.length < 2 && (scores === 'by_section' || scores === 'by_type')) return null;
  return (
    <ScoreBars
      title={`Score by ${label}`}
      groups={groups}
      onChoose={(name) => {
        const filter = sliceFilter(by, known === undefined ? values.get(name) : name);
        if (filter !== undefined) onChoose(filter);
      }}
    />
  );
}

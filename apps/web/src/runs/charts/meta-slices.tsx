import { Select, Stack } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { useOverview } from '../../datasets/overview/use-overview.ts';
import type { GroupScore } from '../../ui/charts/group-scores.ts';
import { ScoreBars } from '../../ui/charts/score-bars.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import { plainText } from '../../ui/text/pretty-json.ts';
import type { Run } from '../use-run.ts';

/** The scores of a run by the values of a key of the metadata. */
export function MetaSlices({ run }: { readonly run: Run }) {
  const api = useApi();
  const keys = useOverview({ id: run.dataset_id, version: run.dataset_version }).data?.metaKeys ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const key = chosen ?? keys[0];
  const found = useQuery({
    queryKey: ['slices', run.id, key, run.finished_at],
    queryFn: ({ signal }) => {
      const pointer = `/meta/${(key ?? '').replaceAll('~', '~0').replaceAll('/', '~1')}`;
      return dataOf(
        api.GET('/runs/{id}/slices', {
          params: { path: { id: run.id }, query: { by: [pointer] } },
          signal,
        }),
      );
    },
    enabled: key !== undefined,
  });
  if (key === undefined) return null;
  return (
    <Stack gap="xs">
      <Select
        label="Key of the metadata"
        size="xs"
        maw={260}
        searchable
        value={key}
        onChange={setChosen}
        data={[...keys]}
      />
      {found.error !== null && <ErrorView error={found.error} />}
      <ScoreBars title={`Score by ${key}`} groups={slicesOf(found.data?.data ?? [])} />
    </Stack>
  );
}

interface Slice {
  readonly values: readonly unknown[];
  readonly mean: number | null;
  readonly ci95: readonly number[] | null;
  readonly results: number;
}

/** The slices with a score, the best first. */
function slicesOf(slices: readonly Slice[]): readonly GroupScore[] {
  return slices
    .flatMap(({ values, mean, ci95, results }): GroupScore[] => {
      const name = plainText(values[0] as JsonValue, 100) || 'none';
      return mean === null ? [] : [{ name, mean, ci95: ci95 as [number, number] | null, count: results }];
    })
    .sort((a, b) => b.mean - a.mean);
}

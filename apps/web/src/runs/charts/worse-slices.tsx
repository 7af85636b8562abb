import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, isRefusal } from '../../api/api.ts';
import { SmallButton, TextButton } from '../../ui/buttons.tsx';
import { Part } from '../../ui/layout/page.tsx';
import { ErrorView } from '../../ui/query-state.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount, formatP, formatPercent } from '../../ui/text/formats.ts';
import type { Run } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';
import { type SliceBars, type SliceKey, sliceFilter, sliceName, useSliceKeys } from './slices.tsx';
import { type Outcomes, type TestedSlice, worseThanRest } from './worse-than-rest.ts';

/** False discoveries among what is shown. */
const MAX_Q = 0.05;

/** Keys that are looked at: each is a question to the service. */
const MAX_KEYS = 20;

interface NamedSlice extends Outcomes {
  readonly name: string;
  readonly filters: RunSearch | undefined;
}

/** Where a run is worse than in the rest: over all sections, types, tags and values of the metadata. */
export function WorseSlices({ run, scorer, onChoose }: Omit<Parameters<typeof SliceBars>[0], 'of'>) {
  const keys = useSliceKeys(run);
  const [isAsked, setAsked] = useState(false);
  const whole = scorer === undefined ? run.scores : run.scorers[scorer];
  const found = useQuery({
    queryKey: ['worse slices', run.id, scorer, keys.length, run.finished_at],
    queryFn: async ({ signal }) => {
      const parts = scorer === undefined ? partsOf(run) : [];
      // the run has the slices of its main scorer, however many
      const asked = keys.filter(({ value }) => scorer !== undefined || value.startsWith('/'));
      const read = await readSlices(run.id, asked.slice(0, MAX_KEYS), scorer, signal);
      return { slices: [...parts, ...read.slices], left: read.left };
    },
    enabled: isAsked,
  });
  const tested = worseThanRest(found.data?.slices ?? [], whole ?? { passed: 0, wrong: 0 });
  const worse = tested.filter(({ q }) => q <= MAX_Q);
  const isDependent =
    ((run.config as { readonly repetitions?: number | null }).repetitions ?? 1) > 1 ||
    (run.config as { readonly cluster_by?: string | null }).cluster_by != null;
  return (
    <Part title="Where is it worse than the rest?">
      <Stack gap="xs">
        {found.data === undefined ? (
          <SmallButton
            label="Test all slices"
            w="fit-content"
            loading={found.isFetching}
            onClick={() => setAsked(true)}
          />
        ) : (
          <>
            {worse.length > 0 && (
              <DataTable
                label="Slices that are worse than the rest"
                columns={[
                  {
                    label: 'Slice',
                    wraps: true,
                    cell: ({ slice: { name, filters } }: TestedSlice<NamedSlice>) =>
                      filters === undefined ? (
                        name
                      ) : (
                        <TextButton label={name} onClick={() => onChoose(filters)} />
                      ),
                  },
                  { label: 'Right', isNumber: true, cell: ({ share }) => formatPercent(share) },
                  { label: 'In the rest', isNumber: true, cell: ({ restShare }) => formatPercent(restShare) },
                  { label: 'Scored', isNumber: true, cell: ({ scored }) => formatCount(scored) },
                  { label: 'q', isNumber: true, cell: ({ q }) => formatP(q) },
                ]}
                rows={worse}
                keyOf={({ slice }) => slice.name}
              />
            )}
            <Dimmed size="xs">
              {worse.length === 0 ? 'No slice is worse beyond chance. ' : ''}
              {formatCount(tested.length)} slices: Fisher’s exact test of right and wrong answers, with the
              false discovery rate at 5 % (Benjamini–Hochberg).
              {isDependent && ' It takes results as independent, which repetitions and clusters are not.'}
              {found.data.left.length > 0 && ` Too many values: ${found.data.left.join(', ')}.`}
            </Dimmed>
          </>
        )}
        {found.error !== null && <ErrorView error={found.error} />}
      </Stack>
    </Part>
  );
}

/** The sections and tags of a run, whose scores it has; types are values of items. */
const partsOf = ({ scores }: Run): readonly NamedSlice[] =>
  (['section', 'tag'] as const).flatMap((kind) =>
    Object.entries(scores[`by_${kind}`] ?? {}).map(([value, { passed, wrong }]) => ({
      name: `${kind} = ${value}`,
      filters: { [kind]: value },
      ...{ passed, wrong },
    })),
  );

/** The slices by each key, and the keys with too many values. */
async function readSlices(
  id: string,
  keys: readonly SliceKey[],
  scorer: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly slices: readonly NamedSlice[]; readonly left: readonly string[] }> {
  const slices: NamedSlice[] = [];
  const left: string[] = [];
  for (const { value: by, label } of keys) {
    const params = { path: { id }, query: { by: [by], scorer } };
    const read = await get('/runs/{id}/slices', params, signal).catch((error: unknown) => {
      if (isRefusal(error, 400)) return null;
      throw error;
    });
    if (read === null) left.push(label);
    for (const { values, passed, wrong } of read?.data ?? [])
      slices.push({
        name: `${label} = ${sliceName(values[0])}`,
        filters: sliceFilter(by, values[0]),
        ...{ passed, wrong },
      });
  }
  return { slices, left };
}

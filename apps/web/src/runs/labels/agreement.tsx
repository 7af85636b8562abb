import { Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { get } from '../../api/api.ts';
import { IntervalBar, ScoreBar } from '../../ui/charts/interval-bar.tsx';
import { Part } from '../../ui/layout/part.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { clampedInterval, formatCount, formatInterval, formatScore } from '../../ui/text/formats.ts';
import { useChangeSearch } from '../../ui/use-change-search.ts';
import { type Run, scorersOf } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';
import { type Agreed, AgreementTable, CellResults } from './agreement-cells.tsx';

const route = getRouteApi('/runs/$id');

/** How a scorer agrees with people, or one person with another. */
export function Agreement({ run, people }: { readonly run: Run; readonly people: readonly string[] }) {
  const search = route.useSearch();
  const change = useChangeSearch<RunSearch>(route);
  const { label_by: by, cell } = search;
  const other = by === undefined ? undefined : search.other;
  const scorer = other === undefined ? search.scorer : undefined;
  const params = { path: { id: run.id }, query: { scorer, by, other, limit: 1 } };
  const found = useQuery({
    queryKey: ['labels', run.id, 'agreement', { scorer, by, other }],
    queryFn: ({ signal }) => get('/runs/{id}/agreement', params, signal),
  });
  const choose = (changes: RunSearch): void => change({ cell: undefined, ...changes });
  const scorers = scorersOf(run);
  const field = { size: 'xs', w: 180, clearable: true } as const;
  return (
    <Part title="Agreement">
      <Stack gap="xs">
        <Group gap="xs">
          {scorers.length > 1 && other === undefined && (
            <Select
              {...field}
              label="Scorer"
              placeholder={scorers[0]}
              value={scorer ?? null}
              onChange={(next) => choose({ scorer: next ?? undefined })}
              data={[...scorers]}
            />
          )}
          {(people.length > 1 || by !== undefined) && (
            <Select
              {...field}
              label="Person"
              placeholder="newest verdict"
              value={by ?? null}
              onChange={(next) => choose({ label_by: next ?? undefined, other: undefined })}
              data={[...people]}
            />
          )}
          {by !== undefined && people.length > 1 && (
            <Select
              {...field}
              label="Another person"
              placeholder="in place of a scorer"
              value={other ?? null}
              onChange={(next) => choose({ other: next ?? undefined })}
              data={people.filter((name) => name !== by)}
            />
          )}
        </Group>
        <QueryState query={found} rows={3} />
        {found.data !== undefined && found.data.n === 0 && (
          <Text size="sm">
            No result has a verdict of both: press 1 or 0 while a result is open that has a score.
          </Text>
        )}
        {found.data !== undefined && found.data.n > 0 && (
          <>
            <AgreementTable run={run} found={found.data} search={search} />
            <Measures found={found.data} />
            {other !== undefined && cell !== undefined && (
              <CellResults run={run} by={by} other={other} cell={cell} />
            )}
          </>
        )}
      </Stack>
    </Part>
  );
}

interface Measure {
  readonly name: string;
  readonly of: string;
  readonly value: number | null;
  readonly ci95: readonly number[] | null;
  /** Whether it is from -1 to 1, and not a share. */
  readonly isKappa?: boolean;
}

/** The measures of an agreement with their intervals. */
function Measures({ found }: { readonly found: Agreed }) {
  const judge = found.other ?? found.scorer ?? 'the scorer';
  const { both_pass, both_fail, false_pass, false_fail } = found.cells;
  const rows: readonly Measure[] = [
    { name: 'Agreement', of: `of ${formatCount(found.n)} results`, value: found.agreement, ci95: null },
    {
      name: 'Cohen’s kappa',
      of: 'from −1 to 1; 0 is chance',
      value: found.kappa,
      ci95: found.kappa_ci95,
      isKappa: true,
    },
    {
      name: 'False passes',
      of: `of ${formatCount(both_pass + false_pass)} that ${judge} passes`,
      value: found.false_pass_rate,
      ci95: found.false_pass_rate_ci95,
    },
    {
      name: 'False fails',
      of: `of ${formatCount(both_fail + false_fail)} that ${judge} fails`,
      value: found.false_fail_rate,
      ci95: found.false_fail_rate_ci95,
    },
    {
      name: 'Base rate',
      of: `right for ${found.by ?? 'people'}, of ${formatCount(found.n)}`,
      value: found.base_rate,
      ci95: null,
    },
  ];
  return (
    <DataTable
      label="Measures of agreement"
      columns={[
        {
          label: 'Measure',
          size: 130,
          share: 1,
          wraps: true,
          cell: ({ name, of }: Measure) => (
            <>
              {name}
              <Dimmed size="xs">{of}</Dimmed>
            </>
          ),
        },
        { label: 'Bar', size: 170, isOptional: true, cell: (row: Measure) => <Bar row={row} /> },
        { label: 'Value', isNumber: true, cell: ({ value }: Measure) => formatScore(value) },
        {
          label: '95 %',
          isNumber: true,
          cell: (row: Measure) => formatInterval(intervalOf(row)),
        },
      ]}
      rows={rows}
      keyOf={({ name }) => name}
    />
  );
}

function intervalOf({ ci95, isKappa = false }: Measure): readonly [low: number, high: number] | null {
  const [low, high] = ci95 ?? [];
  if (!isKappa) return clampedInterval(ci95);
  return low === undefined || high === undefined || low === high ? null : [low, high];
}

function Bar({ row }: { readonly row: Measure }) {
  const { value, isKappa = false } = row;
  if (value === null) return null;
  const interval = intervalOf(row);
  if (!isKappa) return <ScoreBar mean={value} ci95={interval} />;
  const [low, high] = interval ?? [value, value];
  return <IntervalBar value={value} low={low} high={high} scale={1} />;
}

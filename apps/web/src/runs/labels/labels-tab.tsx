import { Group, NumberInput, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../api/api.ts';
import { useCan } from '../../session/session.tsx';
import { LinkButton } from '../../ui/buttons.tsx';
import { CountBars } from '../../ui/charts/bars.tsx';
import { IntervalBar, ScoreBar } from '../../ui/charts/interval-bar.tsx';
import { Part } from '../../ui/layout/page.tsx';
import { isShown, QueryState } from '../../ui/query-state.tsx';
import { numbers, texts } from '../../ui/table/cells.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { clampedInterval, formatCount, formatInterval, formatScore } from '../../ui/text/formats.ts';
import { labelsQuery, type Run, scorersOf } from '../queries.ts';
import { MAX_SAMPLE, MAX_SEED, type RunSearch, runRoute, useChangeRun } from '../runs-search.ts';
import { type Agreed, AgreementTable, CellResults } from './agreement-cells.tsx';

export default function LabelsTab({ run }: { readonly run: Run }) {
  const navigate = runRoute.useNavigate();
  const canLabel = useCan('editor');
  const found = useQuery(labelsQuery(run));
  if (!isShown(found)) return <QueryState query={found} rows={3} />;
  const { labels, people, types } = found.data;
  return (
    <Stack>
      {labels === 0 && (
        <Text size="sm">
          Nobody has labelled an output of this run.
          {canLabel &&
            ' Open a result and press 1 if its output is right or 0 if it is wrong, or label a blind sample.'}
        </Text>
      )}
      {canLabel && <SampleForm run={run} />}
      {labels > 0 && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Agreement run={run} people={people.map(({ by }) => by)} />
          <CountBars
            title="Types of failure"
            counts={new Map(types.map(({ type, labels: count }) => [type, count]))}
            onChoose={(label_type) =>
              void navigate({ search: ({ columns, scorer }) => ({ columns, scorer, label_type }) })
            }
          />
        </SimpleGrid>
      )}
    </Stack>
  );
}

const [RESULTS, SEED] = [100, 1] as const;

/** Opens a blind sample. People who state the same seed label the same results. */
function SampleForm({ run }: { readonly run: Run }) {
  const [n, setN] = useState<string | number>(RESULTS);
  const [seed, setSeed] = useState<string | number>(SEED);
  const field = { size: 'xs', w: 110, allowDecimal: false, clampBehavior: 'strict' } as const;
  return (
    <Group gap="xs" align="end">
      <NumberInput {...field} label="Results" min={1} max={MAX_SAMPLE} value={n} onChange={setN} />
      <NumberInput {...field} label="Seed" min={0} max={MAX_SEED} value={seed} onChange={setSeed} />
      <LinkButton
        label="Label a blind sample"
        to="/runs/$id"
        params={{ id: run.id }}
        search={{
          sample: 'blind',
          n: n === '' ? RESULTS : Number(n),
          seed: seed === '' ? SEED : Number(seed),
        }}
      />
    </Group>
  );
}

function Agreement({ run, people }: { readonly run: Run; readonly people: readonly string[] }) {
  const search = runRoute.useSearch();
  const change = useChangeRun();
  const { label_by: by, cell } = search;
  const other = by === undefined ? undefined : search.other;
  const scorer = other === undefined ? search.scorer : undefined;
  const params = { path: { id: run.id }, query: { scorer, by, other, limit: 1 } };
  const key = ['labels', run.id, 'agreement', { scorer, by, other }];
  const found = useQuery(apiQuery(key, '/runs/{id}/agreement', params));
  const scorers = scorersOf(run);
  const choice = (
    label: string,
    placeholder: string | undefined,
    value: string | undefined,
    names: readonly string[],
    changesOf: (name: string | undefined) => RunSearch,
  ) => (
    <Select
      label={label}
      placeholder={placeholder}
      size="xs"
      w={180}
      clearable
      value={value ?? null}
      onChange={(next) => change({ cell: undefined, ...changesOf(next ?? undefined) })}
      data={names}
    />
  );
  const others = people.filter((name) => name !== by);
  return (
    <Part title="Agreement">
      <Stack gap="xs">
        <Group gap="xs">
          {scorers.length > 1 &&
            other === undefined &&
            choice('Scorer', scorers[0], scorer, scorers, (name) => ({ scorer: name }))}
          {(people.length > 1 || by !== undefined) &&
            choice('Person', 'newest verdict', by, people, (name) => ({ label_by: name, other: undefined }))}
          {by !== undefined &&
            people.length > 1 &&
            choice('Another person', 'in place of a scorer', other, others, (name) => ({ other: name }))}
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

/** A measure with its interval, from 0 to 1 or, as kappa is, from -1 to 1. */
type Measure = readonly [name: string, of: string, value: number | null, ci95: readonly number[] | null];

const KAPPA = 'Cohen’s kappa';

function Measures({ found }: { readonly found: Agreed }) {
  const { n, cells, by, other, scorer } = found;
  const judge = other ?? scorer ?? 'the scorer';
  const [passes, fails] = [cells.both_pass + cells.false_pass, cells.both_fail + cells.false_fail];
  const { false_pass_rate, false_pass_rate_ci95, false_fail_rate, false_fail_rate_ci95 } = found;
  const rows: readonly Measure[] = [
    ['Agreement', `of ${formatCount(n)} results`, found.agreement, null],
    [KAPPA, 'from −1 to 1; 0 is chance', found.kappa, found.kappa_ci95],
    ['False passes', `of ${formatCount(passes)} that ${judge} passes`, false_pass_rate, false_pass_rate_ci95],
    ['False fails', `of ${formatCount(fails)} that ${judge} fails`, false_fail_rate, false_fail_rate_ci95],
    ['Base rate', `right for ${by ?? 'people'}, of ${formatCount(n)}`, found.base_rate, null],
  ];
  return (
    <DataTable
      label="Measures of agreement"
      columns={[
        texts(
          'Measure',
          ([name, of]: Measure) => (
            <>
              {name}
              <Dimmed size="xs">{of}</Dimmed>
            </>
          ),
          { size: 130, share: 1 },
        ),
        { label: 'Bar', size: 170, isOptional: true, cell: (row: Measure) => <Bar row={row} /> },
        numbers('Value', ([, , value]: Measure) => formatScore(value)),
        numbers('95 %', (row: Measure) => formatInterval(intervalOf(row))),
      ]}
      rows={rows}
      keyOf={([name]) => name}
    />
  );
}

function intervalOf([name, , , ci95]: Measure): readonly [low: number, high: number] | null {
  const [low, high] = ci95 ?? [];
  if (name !== KAPPA) return clampedInterval(ci95);
  return low === undefined || high === undefined || low === high ? null : [low, high];
}

function Bar({ row }: { readonly row: Measure }) {
  const [name, , value] = row;
  if (value === null) return null;
  const interval = intervalOf(row);
  if (name !== KAPPA) return <ScoreBar mean={value} ci95={interval} />;
  return <IntervalBar value={value} ci95={interval} scale={1} />;
}

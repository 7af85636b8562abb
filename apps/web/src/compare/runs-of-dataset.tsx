import { Group, SegmentedControl, Stack } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { nameOf, type Run, runQuery, runsQuery } from '../runs/queries.ts';
import { RunLink } from '../ui/buttons.tsx';
import { ScoreScatter } from '../ui/charts/plots.tsx';
import { Part } from '../ui/layout/page.tsx';
import { isShown, PageSkeleton, QueryState } from '../ui/query-state.tsx';
import { numbers, texts } from '../ui/table/cells.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { clampedInterval, formatCount, formatDuration, formatScore } from '../ui/text/formats.ts';
import { bestOf, itemsOf, type Measure, type MeasuredRun, tookOf } from './best-of.ts';
import { MEASURES } from './compare-search.ts';

/** Runs that are drawn: the newest. Their latencies are asked for one by one. */
const SHOWN = 40;

const LABELS: Readonly<Record<Measure, string>> = {
  cost: 'Cost per 1,000 results',
  latency: 'Latency (50 %)',
  tokens: 'Tokens per 1,000 results',
};

/** Pixels of the table next to the chart. */
const MAX_HEIGHT = 260;

export default function RunsOfDataset(props: {
  /** The runs that are compared; the first one names the dataset. */
  readonly runs: readonly Run[];
  /** By default the cost, or the latency where costs are not known. */
  readonly against: Measure | undefined;
  readonly onAgainst: (against: Measure) => void;
}) {
  const { runs: compared, against: stated, onAgainst } = props;
  const listed = useQuery(runsQuery({ dataset_id: compared[0]?.dataset_id ?? '', limit: SHOWN }));
  const runs = listed.data?.data.filter(({ scores }) => scores.mean !== null) ?? [];
  const priced = runs.filter(({ cost }) => cost !== null).length;
  const against = stated ?? (priced > 1 ? 'cost' : 'latency');
  const ids = runs.map(({ id }) => id);
  const whole = useQueries({
    queries: ids.map((id) => ({ ...runQuery(id), enabled: against === 'latency', staleTime: 60_000 })),
  });
  if (!isShown(listed)) return <QueryState query={listed} rows={2} />;
  const which = listed.data.meta.total_items > SHOWN ? `The newest ${SHOWN}` : 'All';
  const currency = runs.find(({ cost }) => cost !== null)?.cost?.currency;
  const unsorted = runs.flatMap((run, at): MeasuredRun[] => {
    const took = tookOf(run, against, whole[at]?.data, currency);
    return took === null ? [] : [{ run, took, score: run.scores.mean ?? 0 }];
  });
  const measured = unsorted.toSorted((a, b) => a.took - b.took);
  if (runs.length < 2) return null;
  const items = compared[0] === undefined ? '' : itemsOf(compared[0]);
  const same = measured.filter(({ run }) => itemsOf(run) === items);
  const format = (value: number): string =>
    against === 'latency'
      ? formatDuration(value)
      : against === 'tokens'
        ? formatCount(Number(value.toPrecision(3)))
        : `${Number(value.toPrecision(3))} ${currency ?? ''}`.trim();
  const best = bestOf(same, format);
  const title = `Score against ${LABELS[against].toLowerCase()}`;
  const points = same.map(({ run, took, score }) => {
    const [low, high] = clampedInterval(run.scores.ci95) ?? [score, score];
    return { name: nameOf(run), x: took, score, low, high };
  });
  return (
    <Part title={`${which} runs of the dataset: quality against what it takes`}>
      <Stack gap="xs">
        <Group gap="xs">
          <SegmentedControl
            aria-label="Against"
            size="xs"
            value={against}
            onChange={(value) => onAgainst(MEASURES.find((one) => one === value) ?? 'cost')}
            data={MEASURES.map((value) => ({ value, label: LABELS[value] }))}
          />
        </Group>
        {whole.some(({ isLoading }) => isLoading) ? (
          <PageSkeleton rows={2} />
        ) : measured.length < 2 ? (
          <Dimmed>Fewer than two runs say what they took.</Dimmed>
        ) : (
          <div className="runs-of-dataset">
            {points.length < 2 ? (
              <Dimmed>Fewer than two runs of the same items say what they took.</Dimmed>
            ) : (
              <ScoreScatter
                label={LABELS[against]}
                points={points}
                line={best.map(({ took, score }) => ({ x: took, score }))}
                format={format}
              />
            )}
            <DataTable
              label={title}
              maxHeight={MAX_HEIGHT}
              columns={[
                texts('Run', ({ run }: MeasuredRun) => <RunLink id={run.id} label={nameOf(run)} />, {
                  size: 140,
                  share: 1,
                }),
                numbers('Score', ({ score }: MeasuredRun) => formatScore(score), { size: 70 }),
                numbers(LABELS[against], ({ took }: MeasuredRun) => format(took), { size: 150 }),
                {
                  label: 'Pareto-optimal',
                  cell: ({ run }: MeasuredRun) =>
                    itemsOf(run) !== items ? 'other items' : best.some((one) => one.run === run) ? 'yes' : '',
                },
              ]}
              rows={[...same, ...measured.filter((one) => !same.includes(one))]}
              keyOf={({ run }) => run.id}
            />
          </div>
        )}
      </Stack>
    </Part>
  );
}

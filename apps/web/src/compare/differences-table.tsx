import type { ReactNode } from 'react';
import { nameOf, type Run, useDatasetNames } from '../runs/queries.ts';
import { RunLink, SmallButton } from '../ui/buttons.tsx';
import { IntervalBar } from '../ui/charts/interval-bar.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import { type Column, numbers } from '../ui/table/table-model.ts';
import { Dimmed, Note } from '../ui/text/dimmed.ts';
import { formatCount, formatDuration, formatP, formatScore, formatSigned } from '../ui/text/formats.ts';
import { costPerThousand, tokensPerThousand } from './best-of.ts';
import { type ComparedRun, scaleOf } from './forest-plot.tsx';
import type { Compared } from './summary-sentence.ts';

/** A run, and how it differs from the first one; null for the first one itself. */
type Row = ComparedRun | { readonly run: Run; readonly scores: null };

const number = (label: string, text: (scores: Compared) => ReactNode): Column<Row> =>
  numbers(label, ({ scores }) => scores !== null && text(scores));

/** How each of the other runs differs from the first one: a row each, with the interval drawn. */
export function DifferencesTable({
  first,
  rows,
  shown,
  onShow,
}: {
  readonly first: Run;
  readonly rows: readonly ComparedRun[];
  /** The run whose items are listed below. */
  readonly shown: string;
  readonly onShow: (id: string) => void;
}) {
  const datasetOf = useDatasetNames([first, ...rows.map(({ run }) => run)]);
  // all intervals on one scale, which the widest one fills
  const scale = scaleOf(rows.map(({ scores }) => scores));
  const columns: Column<Row>[] = [
    {
      label: 'Run',
      wraps: true,
      cell: ({ run }) => (
        <>
          <RunLink id={run.id} label={nameOf(run)} />
          <Dimmed size="xs">{datasetOf(run)}</Dimmed>
        </>
      ),
    },
    numbers('Score', ({ scores }) =>
      formatScore(scores === null ? (rows[0]?.scores.mean ?? first.scores.mean) : scores.other_mean),
    ),
    number('Difference', ({ mean_difference }) => <b>{formatSigned(mean_difference)}</b>),
    {
      label: 'Interval (95 %)',
      cell: ({ scores }) =>
        scores === null ? <Dimmed span>the baseline</Dimmed> : <Interval scores={scores} scale={scale} />,
    },
    number('Better', ({ wins }) => formatCount(wins)),
    number('Worse', ({ losses }) => formatCount(losses)),
    number('Equal', ({ ties }) => formatCount(ties)),
    number('Items in both', ({ paired }) => formatCount(paired)),
    number('p (McNemar)', ({ p_value }) => formatP(p_value)),
    numbers('Latency (50 %)', ({ run }) => formatDuration(run.latency_ms?.p50)),
    numbers('Tokens per 1,000', ({ run }) => tokensPerThousand(run)),
  ];
  if ([first, ...rows.map(({ run }) => run)].some(({ cost }) => cost !== null))
    columns.push(numbers('Cost per 1,000', ({ run }) => costPerThousand(run)));
  if (rows.length > 1)
    columns.push({
      ...{ label: 'Items', isLabelHidden: true },
      cell: ({ run, scores }) =>
        scores !== null && (
          <SmallButton
            label="Items"
            size="compact-xs"
            variant={run.id === shown ? 'light' : 'default'}
            aria-pressed={run.id === shown}
            aria-label={`Items of ${nameOf(run)}`}
            onClick={() => onShow(run.id)}
          />
        ),
    });
  return (
    <DataTable
      label="Differences"
      columns={columns}
      rows={[{ run: first, scores: null }, ...rows]}
      keyOf={({ run }) => run.id}
    />
  );
}

function Interval({
  scores: { mean_difference, ci95 },
  scale,
}: {
  readonly scores: Compared;
  readonly scale: number;
}) {
  const [low, high] = ci95 ?? [];
  if (mean_difference === null || low === undefined || high === undefined) return '–';
  return (
    <>
      <IntervalBar value={mean_difference} ci95={ci95} scale={scale} />
      <Note>
        {formatSigned(low)} to {formatSigned(high)}
      </Note>
    </>
  );
}

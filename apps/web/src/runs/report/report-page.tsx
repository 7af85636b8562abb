import type { ReactNode } from 'react';
import { type GroupScore, groupScores } from '../../ui/charts/group-scores.ts';
import { ReportDocument, ReportTable } from '../../ui/report/report-document.tsx';
import { clampedInterval, formatCount, formatDuration, formatScore } from '../../ui/text/formats.ts';
import { factsOf } from '../run-facts.ts';
import { modelOf, nameOf, type Run } from '../use-run.ts';
import type { FittedRows } from './fit-rows.ts';
import type { ReportRow } from './report-rows.ts';

const KINDS: Readonly<Record<ReportRow['kind'], string>> = {
  error: '– no answer',
  wrong: '✗ wrong',
  right: '✓ right',
  unscored: '– not scored',
};

/** What a run did, as a separate document: it has all that it shows, and runs no script. */
export function ReportPage({
  run,
  dataset,
  config,
  rows,
  madeAt,
}: {
  readonly run: Run;
  /** Name of the dataset, with its version. */
  readonly dataset: string;
  /** The configuration as JSON text. */
  readonly config: string;
  readonly rows: FittedRows;
  readonly madeAt: string;
}) {
  const { by_section, by_type, by_tag } = run.scores;
  const left = run.counts.done - rows.rows.length;
  return (
    <ReportDocument
      title={nameOf(run)}
      subtitle={[dataset, modelOf(run), run.status, `made ${madeAt}`]
        .filter((part) => part !== null)
        .join(' · ')}
    >
      <dl>
        {factsOf(run).map(([name, value, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              {note !== undefined && <small>{note}</small>}
            </dd>
          </div>
        ))}
      </dl>
      <Scores title="Score by scorer" groups={groupScores(run.scorers)} />
      <Scores title="Score by section" groups={groupScores(by_section)} />
      <Scores title="Score by type" groups={groupScores(by_type)} />
      <Scores title="Score by tag" groups={groupScores(by_tag)} />
      <h2>Results</h2>
      <p className="dim">
        {left > 0
          ? `${formatCount(rows.rows.length)} of ${formatCount(run.counts.done)} results: errors and wrong ones first. ${formatCount(left)} are left out to keep this file small. `
          : 'Errors and wrong ones first. '}
        Texts of more than {formatCount(rows.length)} characters end with “… (shortened)”.
      </p>
      <table className="results">
        <thead>
          <tr>
            {['', 'Id', 'Question', 'Expected', 'Got', 'Why', 'Score', 'Latency'].map((header) => (
              <th key={header} scope="col">
                {header || <span className="hidden">Outcome</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows never change
            <Result key={at} row={row} length={rows.length} />
          ))}
        </tbody>
      </table>
      <h2>Configuration</h2>
      <pre>{config}</pre>
    </ReportDocument>
  );
}

function Result({ row, length }: { readonly row: ReportRow; readonly length: number }) {
  const cell = (text: string): ReactNode => (
    <td dir="auto">{text.length > length ? `${text.slice(0, length)}… (shortened)` : text}</td>
  );
  return (
    <tr className={row.kind}>
      <td>{KINDS[row.kind]}</td>
      {cell(row.id)}
      {cell(row.question)}
      {cell(row.expected)}
      {cell(row.got)}
      {cell(row.why)}
      <td>{formatScore(row.score)}</td>
      <td>{row.latencyMs === null ? '–' : formatDuration(row.latencyMs)}</td>
    </tr>
  );
}

const [CHART_WIDTH, BAR_HEIGHT] = [300, 14] as const;

/** Scores of groups as a chart with its numbers. */
function Scores({ title, groups }: { readonly title: string; readonly groups: readonly GroupScore[] }) {
  if (groups.length < 2) return null;
  return (
    <>
      <h2>{title}</h2>
      <ReportTable
        headers={['Group', '0 to 1', 'Score', '95 %', 'Results']}
        rows={groups.map(({ name, mean, ci95, count }) => {
          const [low, high] = clampedInterval(ci95) ?? [];
          return [
            name,
            <ScoreBar key={name} mean={mean} low={low} high={high} />,
            formatScore(mean),
            low === undefined ? '–' : `${formatScore(low)} to ${formatScore(high)}`,
            formatCount(count),
          ];
        })}
      />
    </>
  );
}

function ScoreBar({
  mean,
  low,
  high,
}: {
  readonly mean: number;
  readonly low: number | undefined;
  readonly high: number | undefined;
}) {
  const x = (score: number): number => Math.min(1, Math.max(0, score)) * CHART_WIDTH;
  return (
    <svg width={CHART_WIDTH} height={BAR_HEIGHT} aria-hidden="true">
      <rect className="track" width={CHART_WIDTH} height={BAR_HEIGHT} />
      <rect className="bar" width={x(mean)} height={BAR_HEIGHT} />
      {low !== undefined && high !== undefined && (
        <line className="interval" x1={x(low)} x2={x(high)} y1={BAR_HEIGHT / 2} y2={BAR_HEIGHT / 2} />
      )}
    </svg>
  );
}

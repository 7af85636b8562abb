import type { ApiClient } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { type GroupScore, groupScores } from '../../ui/charts/group-scores.ts';
import { ScoreBar } from '../../ui/charts/score-bar.tsx';
import { ReportDocument, ReportTable } from '../../ui/report/report-document.tsx';
import { reportFile, reportTime } from '../../ui/report/report-file.ts';
import {
  clampedInterval,
  formatCount,
  formatDuration,
  formatInterval,
  formatScore,
} from '../../ui/text/formats.ts';
import { prettyJson } from '../../ui/text/pretty-json.ts';
import { factsOf } from '../run-facts.ts';
import { modelOf, nameOf, type Run } from '../use-run.ts';
import { type FittedRows, fitRows } from './fit-rows.ts';
import { type ReportRow, readReportRows } from './report-rows.ts';

/** For the results; the rest of the report stays far below what remains of 5 MB. */
const MAX_ROW_BYTES = 4_600_000;

/**
 * Makes the report of a run: one HTML file below 5 MB, which needs nothing else.
 *
 * @param dataset its name, with its version
 * @param onProgress receives how many results were read
 */
export async function makeReport(
  api: ApiClient,
  run: Run,
  dataset: string,
  onProgress: (read: number) => void,
): Promise<Blob> {
  const fitted = fitRows(await readReportRows(api, run, onProgress), MAX_ROW_BYTES);
  const { by_section, by_type, by_tag } = run.scores;
  const about = [dataset, modelOf(run), run.status, `made ${reportTime()}`];
  return reportFile(
    <ReportDocument title={nameOf(run)} subtitle={about.filter((part) => part !== null).join(' · ')}>
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
      <Results fitted={fitted} total={run.counts.done} />
      <h2>Configuration</h2>
      <pre>{prettyJson(run.config as unknown as JsonValue)}</pre>
    </ReportDocument>,
  );
}

const KINDS: Readonly<Record<ReportRow['kind'], string>> = {
  error: '– no answer',
  wrong: '✗ wrong',
  right: '✓ right',
  unscored: '– not scored',
};

function Results({
  fitted: { rows, length },
  total,
}: {
  readonly fitted: FittedRows;
  readonly total: number;
}) {
  const left = total - rows.length;
  const short = (text: string): string =>
    text.length > length ? `${text.slice(0, length)}… (shortened)` : text;
  const outcome = (
    <span key="outcome" className="hidden">
      Outcome
    </span>
  );
  return (
    <>
      <p className="dim">
        {left > 0
          ? `${formatCount(rows.length)} of ${formatCount(total)} results: errors and wrong ones first. ${formatCount(left)} are left out to keep this file small. `
          : 'Errors and wrong ones first. '}
        Texts of more than {formatCount(length)} characters end with “… (shortened)”.
      </p>
      <ReportTable
        className="results"
        classOf={(at) => rows[at]?.kind}
        headers={[outcome, 'Id', 'Question', 'Expected', 'Got', 'Why', 'Score', 'Latency']}
        rows={rows.map(({ kind, id, question, expected, got, why, score, latencyMs }) => [
          KINDS[kind],
          ...[id, question, expected, got, why].map(short),
          formatScore(score),
          formatDuration(latencyMs),
        ])}
      />
    </>
  );
}

const CHART_WIDTH = 300;

/** Scores of groups as a chart with its numbers. */
function Scores({ title, groups }: { readonly title: string; readonly groups: readonly GroupScore[] }) {
  if (groups.length < 2) return null;
  return (
    <>
      <h2>{title}</h2>
      <ReportTable
        headers={['Group', '0 to 1', 'Score', '95 %', 'Scored']}
        rows={groups.map(({ name, mean, ci95, count }) => [
          name,
          <ScoreBar key={name} mean={mean} ci95={ci95} width={CHART_WIDTH} />,
          formatScore(mean),
          formatInterval(clampedInterval(ci95)),
          formatCount(count),
        ])}
      />
    </>
  );
}

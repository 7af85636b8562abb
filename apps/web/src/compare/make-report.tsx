import type { ApiClient } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { dataOf } from '../api/api-problem.ts';
import { nameOf, type Run } from '../runs/use-run.ts';
import { IntervalLines } from '../ui/charts/interval-lines.tsx';
import { ReportDocument, ReportTable } from '../ui/report/report-document.tsx';
import { reportFile, reportTime } from '../ui/report/report-file.ts';
import { formatCount, formatScore } from '../ui/text/formats.ts';
import { plainText } from '../ui/text/pretty-json.ts';
import { configDifferences } from './config-differences.tsx';
import { groupsOf, intervalsOf, scaleOf } from './groups-of.ts';
import { summarySentence } from './summary-sentence.ts';
import type { Compared, Difference } from './use-comparison.ts';

/** Items of each comparison that a report lists at most. */
const MAX_ITEMS = 5_000;
const PAGE = 100;

/**
 * Makes the report of a comparison: one HTML file with the differences from the first run, what differs in the
 * configurations, scores by group, and the items that differ.
 *
 * @param datasetOf the dataset of a run, with its version
 */
export async function makeReport(
  api: ApiClient,
  runs: readonly Run[],
  datasetOf: (run: Run) => string,
): Promise<Blob> {
  const [first, ...others] = runs;
  if (first === undefined) throw new RangeError('A comparison needs a run.');
  const compared = await Promise.all(
    others.map(async (run) => ({ run, ...(await readDifferences(api, first.id, run.id)) })),
  );
  const groups = groupsOf(runs);
  const [from, to] = scaleOf(runs, groups);
  const names = runs.map(nameOf);
  return reportFile(
    <ReportDocument title={names.join(', ')} subtitle={`Compared with ${names[0]} · made ${reportTime()}`}>
      <h2>Scores</h2>
      <ReportTable
        headers={['Run', 'Dataset', 'Score', 'Difference']}
        rows={runs.map((run, at) => [
          nameOf(run),
          datasetOf(run),
          formatScore(run.scores.mean),
          at === 0 ? 'the baseline' : (summarySentence(compared[at - 1]?.scores ?? NOTHING) ?? '–'),
        ])}
      />
      <h2>What differs in the configurations</h2>
      <ReportTable
        headers={['Member', ...names]}
        rows={configDifferences(runs).map(({ path, values }) => [
          path,
          ...values.map((value) => plainText(value ?? '–', 2_000)),
        ])}
      />
      {groups.length > 0 && <h2>Scores by section, type and tag</h2>}
      {groups.length > 0 && (
        <ReportTable
          headers={['Group', '95 % intervals', ...names]}
          rows={groups.map((group) => [
            group.name,
            <IntervalLines key={group.name} scores={intervalsOf(runs, group)} from={from} to={to} />,
            ...intervalsOf(runs, group).map(
              ({ mean, low, high }) => `${formatScore(mean)} (${formatScore(low)} to ${formatScore(high)})`,
            ),
          ])}
        />
      )}
      {compared.map(({ run, scores, items }) => (
        <section key={run.id}>
          <h2 dir="auto">Items in which {nameOf(run)} differs</h2>
          <p className="dim">
            {formatCount(items.length)} of {formatCount(scores.meta.total_items)}
          </p>
          <ReportTable
            headers={['Item', 'Baseline', 'This run', '']}
            rows={items.map(({ item_id, section, order_index, score, other_score, difference }) => [
              plainText(item_id as JsonValue, 100) || `${section} ${order_index}`,
              formatScore(score),
              formatScore(other_score),
              difference > 0 ? 'better' : 'worse',
            ])}
          />
        </section>
      ))}
    </ReportDocument>,
  );
}

const NOTHING = { mean_difference: null, ci95: null, paired: 0, wins: 0, losses: 0, p_value: null };

async function readDifferences(
  api: ApiClient,
  id: string,
  other: string,
): Promise<{ readonly scores: Compared; readonly items: readonly Difference[] }> {
  const items: Difference[] = [];
  let cursor: string | undefined;
  for (;;) {
    const scores: Compared = await dataOf(
      api.GET('/runs/{id}/compare/{other_id}', {
        params: { path: { id, other_id: other }, query: { limit: PAGE, cursor } },
      }),
    );
    items.push(...scores.data);
    cursor = scores.meta.next_cursor ?? undefined;
    if (cursor === undefined || items.length >= MAX_ITEMS) return { scores, items };
  }
}

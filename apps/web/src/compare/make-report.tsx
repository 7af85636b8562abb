import type { ApiClient } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { ApiProblem, dataOf } from '../api/api-problem.ts';
import { nameOf, type Run } from '../runs/use-run.ts';
import { IntervalBar } from '../ui/charts/interval-bar.tsx';
import { ReportDocument, ReportTable } from '../ui/report/report-document.tsx';
import { reportFile, reportTime } from '../ui/report/report-file.ts';
import { formatCount, formatScore, formatSigned } from '../ui/text/formats.ts';
import { plainText } from '../ui/text/pretty-json.ts';
import type { CompareSearch } from './compare-search.ts';
import { configDifferences } from './config-differences.tsx';
import { readSliceDifferences, type SliceDifference, scaleOf } from './slice-differences.ts';
import { summarySentence } from './summary-sentence.ts';
import type { Compared, Difference } from './use-differences.ts';

/** Items of each comparison that a report lists at most. */
const MAX_ITEMS = 5_000;
const PAGE = 100;

/**
 * Makes the report of a comparison: one HTML file with the differences from the first run, what differs in the
 * configurations, scores by group, and the items that differ.
 *
 * @param datasetOf the dataset of a run, with its version
 * @param compared how items pair, and whose scores are compared
 */
export async function makeReport(
  api: ApiClient,
  runs: readonly Run[],
  datasetOf: (run: Run) => string,
  compared: Pick<CompareSearch, 'by' | 'scorer'>,
): Promise<Blob> {
  const [first, ...others] = runs;
  if (first === undefined) throw new RangeError('A comparison needs a run.');
  const parts = await Promise.all(
    others.map(async (run) => {
      const differences = await readDifferences(api, first.id, run.id, compared);
      const slices = await readSlices(api, first.id, { run, ...differences }, compared);
      return { run, ...differences, slices };
    }),
  );
  const how = [
    ...(compared.by === undefined ? [] : [`items paired by ${compared.by}`]),
    ...(compared.scorer === undefined ? [] : [`scores of ${compared.scorer}`]),
  ];
  const names = runs.map(nameOf);
  return reportFile(
    <ReportDocument
      title={names.join(', ')}
      subtitle={[`Compared with ${names[0]}`, ...how, `made ${reportTime()}`].join(' · ')}
    >
      <h2>Scores</h2>
      <ReportTable
        headers={['Run', 'Dataset', 'Score', 'Difference']}
        rows={runs.map((run, at) => [
          nameOf(run),
          datasetOf(run),
          formatScore(
            at === 0 ? (parts[0]?.scores.mean ?? run.scores.mean) : parts[at - 1]?.scores.other_mean,
          ),
          at === 0 ? 'the baseline' : (summarySentence(parts[at - 1]?.scores ?? NOTHING) ?? '–'),
        ])}
      />
      <h2>What differs in the configurations</h2>
      <ReportTable
        headers={['Setting', ...names]}
        rows={configDifferences(runs).map(({ path, values }) => [
          path,
          ...values.map((value) => plainText(value ?? '–', 2_000)),
        ])}
      />
      {parts.flatMap(({ run, slices }) =>
        slices.map(([title, differences]) => (
          <section key={`${run.id} ${title}`}>
            <h2 dir="auto">
              {nameOf(run)}: difference by {title}
            </h2>
            <Differences slices={differences} />
          </section>
        )),
      )}
      {parts.map(({ run, scores, items }) => (
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

/** What the pairs of a report are sliced by. */
const SLICES = [
  ['section', 'section'],
  ['type', '/type'],
  ['tag', 'tag'],
] as const;

/** The differences in slices, of kinds that have several. */
async function readSlices(
  api: ApiClient,
  id: string,
  other: { readonly run: Run; readonly scores: Compared },
  compared: Pick<CompareSearch, 'by' | 'scorer'>,
): Promise<readonly (readonly [title: string, slices: readonly SliceDifference[]])[]> {
  const read = await Promise.all(
    SLICES.map(async ([title, slice]) => {
      // of too many values
      const none = (error: unknown): [] => {
        if (error instanceof ApiProblem && error.status === 400) return [];
        throw error;
      };
      return [title, await readSliceDifferences(api, id, other, { ...compared, slice }).catch(none)] as const;
    }),
  );
  return read.filter(([, slices]) => slices.length > 1);
}

function Differences({ slices }: { readonly slices: readonly SliceDifference[] }) {
  const scale = scaleOf(slices);
  return (
    <ReportTable
      headers={['Group', '95 % intervals', 'Difference', 'Baseline', 'This run', 'Items']}
      rows={slices.map(
        ({ name, difference, low = difference, high = difference, mean, otherMean, pairs }) => [
          name,
          <IntervalBar key={name} value={difference} low={low} high={high} scale={scale} />,
          `${formatSigned(difference)} (${formatSigned(low)} to ${formatSigned(high)})`,
          formatScore(mean),
          formatScore(otherMean),
          formatCount(pairs),
        ],
      )}
    />
  );
}

const NOTHING = { mean_difference: null, ci95: null, paired: 0, wins: 0, losses: 0, p_value: null };

async function readDifferences(
  api: ApiClient,
  id: string,
  other: string,
  { by, scorer }: Pick<CompareSearch, 'by' | 'scorer'>,
): Promise<{ readonly scores: Compared; readonly items: readonly Difference[] }> {
  const items: Difference[] = [];
  let cursor: string | undefined;
  for (;;) {
    const scores: Compared = await dataOf(
      api.GET('/runs/{id}/compare/{other_id}', {
        params: { path: { id, other_id: other }, query: { limit: PAGE, cursor, pair_by: by, scorer } },
      }),
    );
    items.push(...scores.data);
    cursor = scores.meta.next_cursor ?? undefined;
    if (cursor === undefined || items.length >= MAX_ITEMS) return { scores, items };
  }
}

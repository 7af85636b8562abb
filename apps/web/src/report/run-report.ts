import type { JsonValue } from '@svc/jsonl-v23/json';
import { get } from '../api/api.ts';
import { readMeasures } from '../runs/charts/read-measures.ts';
import { modelOf, nameOf, type Result, type Run, readResults } from '../runs/queries.ts';
import { cellText } from '../runs/results/result-columns.tsx';
import { factsOf, proofOf, scoreText } from '../runs/run-facts.ts';
import { groupScores } from '../ui/charts/bars.tsx';
import { binsOf } from '../ui/charts/interval-bar.tsx';
import {
  clampedInterval,
  formatCount,
  formatDuration,
  formatInterval,
  formatScore,
  plainText,
  prettyJson,
} from '../ui/text/formats.ts';
import { cutText, type ReportBar, type ReportCase, type ReportChart, writeReport } from './write-report.tsx';

/** Results that a report reads at most: even with the shortest texts it holds no more. */
const MAX_RESULTS = 30_000;

/** What is read, in the order of the report: errors and wrong results come first. */
const PARTS = [
  { status: 'failed' },
  { status: 'ok', passed: false },
  { status: 'ok', passed: true },
  { status: 'unscored' },
] as const;

export async function runReport(run: Run, dataset: string, onProgress: (read: number) => void) {
  const params = { path: { id: run.id } };
  const [cases, measures, errors, labels] = await Promise.all([
    readCases(run, onProgress),
    readMeasures(run.id, new AbortController().signal),
    get('/runs/{id}/errors', params),
    get('/runs/{id}/labels', { ...params, query: { limit: 1 } }),
  ]);
  const { scores, counts, scorers } = run;
  const { pass, fail, types } = labels.summary;
  const counted = (title: string, of: readonly (readonly [name: string, count: number])[]): ReportChart => ({
    title,
    kind: 'counts',
    bars: of
      .filter(([, count]) => count > 0)
      .map(([name, count]) => ({ name, value: count, note: formatCount(count) })),
  });
  const slices = (title: string, groups: Parameters<typeof groupScores>[0]): ReportChart => {
    const bars = groupScores(groups).map(
      ({ name, mean, ci95, count }): ReportBar => ({ name, ...scoreBar(mean, ci95, count) }),
    );
    return { title, kind: 'scores', bars: bars.length < 2 ? [] : bars };
  };
  return writeReport({
    title: nameOf(run),
    subtitle: [dataset, modelOf(run), run.status],
    path: `/console/runs/${run.id}`,
    verdicts: [`Score ${scoreText(scores)}`],
    facts: factsOf(run).slice(1),
    charts: [
      {
        title: 'Score',
        kind: 'scores',
        bars: scores.mean === null ? [] : [{ name: 'All', ...scoreBar(scores.mean, scores.ci95, counts.ok) }],
      },
      counted('Outcomes', [
        ['right', scores.passed],
        ['wrong', scores.wrong],
        ['no answer', counts.failed],
        ['not scored', counts.unscored],
      ]),
      slices('Score by scorer', scorers),
      slices('Score by section', scores.by_section),
      slices('Score by type', scores.by_type),
      slices('Score by tag', scores.by_tag),
      counted(
        'Latency',
        binsOf(measures.latenciesMs, formatDuration).map(({ label, count }) => [label, count]),
      ),
      counted(
        'Errors',
        errors.data.map(({ message, count }) => [message, count]),
      ),
      counted('Labels', [
        ['right', pass],
        ['wrong', fail],
        ...types.map((one) => [one.type, one.labels] as const),
      ]),
    ],
    lists: [
      {
        title: 'Results',
        columns: ['Question', 'Expected', 'Output', 'Why', 'Score', 'Latency'],
        cases,
        total: counts.done,
      },
    ],
    settings: {
      columns: ['Setting', 'Value'],
      rows: [...Object.entries(proofOf(run)), ...Object.entries(run.config)].map(([name, value]) => [
        name,
        prettyJson(value as JsonValue),
      ]),
    },
  });
}

function scoreBar(mean: number, ci95: readonly number[] | null, count: number) {
  const interval = clampedInterval(ci95);
  const within = interval === null ? '' : ` (${formatInterval(interval)})`;
  return { value: mean, ci95: interval, note: `${formatScore(mean)}${within}, ${formatCount(count)} scored` };
}

async function readCases(run: Run, onProgress: (read: number) => void): Promise<readonly ReportCase[]> {
  const cases: ReportCase[] = [];
  for (const part of PARTS) {
    for await (const result of readResults(run.id, part)) {
      if (cases.length >= MAX_RESULTS) return cases;
      cases.push(caseOf(result, cases.length));
      if (cases.length % 100 === 0) onProgress(cases.length);
    }
  }
  return cases;
}

export const caseId = ({
  item_id,
  section,
  order_index,
}: Pick<Result, 'item_id' | 'section' | 'order_index'>): string =>
  plainText((item_id ?? `${section} ${order_index}`) as JsonValue, 100);

function caseOf(result: Result, at: number): ReportCase {
  const { status, passed, score, latency_ms } = result;
  const kind =
    status === 'failed' ? 'error' : status === 'unscored' ? 'unscored' : passed ? 'right' : 'wrong';
  return {
    kind,
    id: caseId(result),
    texts: ['question', 'expected', 'output', 'why'].map((column) => cutText(cellText(column, result), at)),
    numbers: [formatScore(score), formatDuration(latency_ms)],
  };
}

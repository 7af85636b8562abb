import { get, isRefusal } from '../api/api.ts';
import { costPerThousand, tokensPerThousand } from '../compare/best-of.ts';
import type { CompareSearch } from '../compare/compare-search.ts';
import { configDifferences } from '../compare/config-differences.tsx';
import { type ComparedRun, readSliceDifferences } from '../compare/differences.tsx';
import {
  type Compared,
  type Difference,
  summarySentence,
  verdictSentence,
} from '../compare/summary-sentence.ts';
import { nameOf, type Run, readResults } from '../runs/queries.ts';
import { cellText } from '../runs/results/result-columns.tsx';
import { scoreText } from '../runs/run-facts.ts';
import { searchText } from '../ui/search-params.ts';
import { formatCount, formatDuration, formatScore, formatSigned, plainText } from '../ui/text/formats.ts';
import { caseId } from './run-report.ts';
import {
  type CutText,
  cutText,
  type ReportBar,
  type ReportCase,
  type ReportChart,
  writeReport,
} from './write-report.tsx';

type How = Pick<CompareSearch, 'by' | 'scorer'>;

/** Items of each comparison that a report lists at most. */
const MAX_ITEMS = 5_000;
/** Results of a run that are read for them at most. */
const MAX_RESULTS = 100_000;
const PAGE = 100;

export async function comparisonReport(runs: readonly Run[], datasetOf: (run: Run) => string, how: How) {
  const [first, ...others] = runs;
  if (first === undefined) throw new RangeError('A comparison needs a run.');
  const parts = await Promise.all(
    others.map(async (run) => {
      const { scores, items } = await readDifferences(first.id, run.id, how);
      const slices = await readSlices(first.id, { run, scores }, how);
      return { run, scores, items, slices };
    }),
  );
  const texts = await readTexts(
    first,
    parts.flatMap(({ items }) => items.map(placeOf)),
  );
  const lists = await Promise.all(
    parts.map(async ({ run, scores, items }) => {
      const outputs = await readTexts(run, items.map(otherPlaceOf));
      return {
        title: parts.length === 1 ? 'Items that differ' : `Items in which ${nameOf(run)} differs`,
        columns: ['Question', 'Expected', nameOf(first), nameOf(run), 'Scores'],
        total: scores.meta.total_items,
        cases: items
          .toSorted((a, b) => a.difference - b.difference)
          .map((item): ReportCase => {
            const [question = NOTHING, expected = NOTHING, output = NOTHING] = texts.get(placeOf(item)) ?? [];
            const [, , other = NOTHING] = outputs.get(otherPlaceOf(item)) ?? [];
            return {
              kind: item.difference < 0 ? 'worse' : item.difference > 0 ? 'better' : 'other',
              id: caseId(item),
              texts: [question, expected, output, other],
              numbers: [`${formatScore(item.score)} → ${formatScore(item.other_score)}`],
            };
          }),
      };
    }),
  );
  const bars = parts.flatMap(({ run, scores }): ReportBar[] =>
    scores.mean_difference === null
      ? []
      : [
          {
            name: nameOf(run),
            value: scores.mean_difference,
            ci95: scores.ci95,
            note: summarySentence(scores) ?? '',
          },
        ],
  );
  return writeReport({
    title: runs.map(nameOf).join(', '),
    subtitle: [
      datasetOf(first),
      ...(how.by === undefined ? [] : [`items paired by ${how.by}`]),
      ...(how.scorer === undefined ? [] : [`scores of ${how.scorer}`]),
    ],
    path: `/console/compare${searchText({ runs: runs.map(({ id }) => id).join(), ...how })}`,
    verdicts: parts.flatMap(({ run, scores }) => verdictSentence(scores, first, run) ?? []),
    facts: [],
    charts: [
      { title: `Difference from ${nameOf(first)}`, kind: 'differences', bars },
      ...parts.flatMap(({ run, slices }) =>
        slices.map((chart) =>
          parts.length === 1 ? chart : { ...chart, title: `${nameOf(run)}: ${chart.title}` },
        ),
      ),
    ],
    lists,
    settings: {
      columns: ['', ...runs.map((run, at) => `${nameOf(run)}${at === 0 ? ', the baseline' : ''}`)],
      rows: [
        ['Dataset', ...runs.map(datasetOf)],
        ['Score', ...runs.map(({ scores }) => scoreText(scores))],
        ['Latency (50 %)', ...runs.map(({ latency_ms }) => formatDuration(latency_ms?.p50))],
        ['Cost per 1,000 results', ...runs.map(costPerThousand)],
        ['Tokens per 1,000 results', ...runs.map(tokensPerThousand)],
        ...configDifferences(runs).map(({ path, values }) => [
          path,
          ...values.map((value) => plainText(value ?? '–', 20_000)),
        ]),
      ],
    },
  });
}

const NOTHING: CutText = { text: '', length: 0 };

const keyOf = (section: string, index: number): string => `${index} ${section}`;
const placeOf = ({ section, order_index }: Difference): string => keyOf(section, order_index);
const otherPlaceOf = ({ other_section, other_order_index }: Difference): string =>
  keyOf(other_section, other_order_index);

async function readTexts(run: Run, places: readonly string[]) {
  const wanted = new Map([...new Set(places)].map((place, at) => [place, at]));
  const texts = new Map<string, readonly CutText[]>();
  let read = 0;
  if (wanted.size === 0) return texts;
  for await (const result of readResults(run.id)) {
    const place = keyOf(result.section, result.order_index);
    const at = wanted.get(place);
    if (at !== undefined && !texts.has(place))
      texts.set(
        place,
        ['question', 'expected', 'output'].map((column) => cutText(cellText(column, result), at)),
      );
    read += 1;
    if (texts.size === wanted.size || read >= MAX_RESULTS) return texts;
  }
  return texts;
}

const SLICES = [
  ['section', 'section'],
  ['type', '/type'],
  ['tag', 'tag'],
] as const;

async function readSlices(id: string, other: ComparedRun, how: How): Promise<readonly ReportChart[]> {
  const read = await Promise.all(
    SLICES.map(async ([name, slice]): Promise<ReportChart> => {
      const slices = await readSliceDifferences(id, other, { ...how, slice }).catch((error: unknown) => {
        // of too many values
        if (isRefusal(error, 400)) return [];
        throw error;
      });
      return {
        title: `Difference by ${name}`,
        kind: 'differences',
        bars: slices.map(({ name: of, mean_difference, ci95, paired }) => ({
          ...{ name: of, value: mean_difference ?? 0, ci95 },
          note: `${formatSigned(mean_difference)} (${formatSigned(ci95?.[0])} to ${formatSigned(ci95?.[1])}), ${formatCount(paired)} items`,
        })),
      };
    }),
  );
  return read.filter(({ bars }) => bars.length > 1);
}

async function readDifferences(id: string, other: string, { by, scorer }: How) {
  const items: Difference[] = [];
  let cursor: string | undefined;
  for (;;) {
    const scores: Compared = await get('/runs/{id}/compare/{other_id}', {
      path: { id, other_id: other },
      query: { limit: PAGE, cursor, pair_by: by, scorer },
    });
    items.push(...scores.data);
    cursor = scores.meta.next_cursor ?? undefined;
    if (cursor === undefined || items.length >= MAX_ITEMS) return { scores, items };
  }
}

import type { Run, RunResult } from '@svc/client';
import { CliError } from '../errors/cli-error.ts';
import { type Interval, type Verdict, verdictOf, widenInterval } from '../evaluation.ts';
import { repetitionsOf } from '../service/follow-run.ts';
import { runParams } from '../service/references.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { countOf, pointsText, reportText, reportValue } from '../text/format.ts';
import { type Baseline, type Comparison, type ComparisonQuery, readComparison } from './baseline.ts';
import {
  type GateCase,
  type GateReport,
  type ItemTexts,
  intervalPoints,
  type WorseItem,
} from './gate-report.ts';

interface ComparedRuns {
  readonly baseline: Baseline;
  readonly run: Run;
}

/** Items of a scorer that a report can name, and how many of their texts are read. */
const MAX_ITEMS = 500;
const MAX_ITEMS_WITH_TEXTS = 20;
const ITEMS_AT_A_TIME = 4;
/** Fewer pairs say little, whatever their interval. */
const FEW_ITEMS = 10;

/**
 * Compares the run of a gate with its baseline: by the scorer that decides, then by every other scorer of both, each in
 * all sections and in each of them.
 */
export async function compareGate(
  service: ServiceClient,
  runs: ComparedRuns,
  { maxDrop, query }: { readonly maxDrop: number; readonly query: ComparisonQuery },
) {
  const { run } = runs;
  const baseline = runs.baseline.run;
  const ids = { id: baseline.id, otherId: run.id };
  const found = await readComparison(service, ids, query, MAX_ITEMS);
  if (found.reason !== null) {
    throw new CliError('nothing_to_compare', `No items of the baseline and the run pair: ${found.reason}`);
  }
  const names = scorerNames(run);
  const deciding = query.scorer ?? names[0] ?? 'main';
  const groups = groupsOf(deciding, found);
  for (const scorer of names) {
    if (scorer === deciding || !Object.hasOwn(baseline.scorers, scorer)) continue;
    groups.push(...groupsOf(scorer, await readComparison(service, ids, { ...query, scorer }, MAX_ITEMS)));
  }
  const texts = new Map<Difference, ItemTexts>();
  const worst = worstOf(found.data).slice(0, MAX_ITEMS_WITH_TEXTS);
  while (worst.length > 0) {
    const read = worst.splice(0, ITEMS_AT_A_TIME).map(async (item) => {
      texts.set(item, await readItemTexts(service, { baseline, run }, item));
    });
    await Promise.all(read);
  }
  const cases = groups.map((group, index): GateCase => {
    const { scorer, section, numbers, worse, worseTotal } = group;
    const { paired, mean, other_mean, mean_difference } = numbers;
    const decides = index === 0;
    const interval = intervalOf(numbers, decides ? 1 : groups.length - 1);
    const verdict = verdictOf(interval, maxDrop);
    return {
      scorer: reportText(scorer),
      section: section === null ? null : reportText(section),
      ...{ decides, verdict, reason: reasonOf(verdict, interval, maxDrop), paired },
      ...{ baseline_mean: mean, mean: other_mean, mean_difference, interval },
      worse_total: worseTotal,
      worse_items: worstOf(worse).map((item) => ({ ...worseItem(item), ...texts.get(item) })),
    };
  });
  const [first, ...others] = cases as [GateCase, ...GateCase[]];
  others.sort((a, b) => Number(b.verdict === 'worse') - Number(a.verdict === 'worse'));
  const { verdict, reason } = first;
  return {
    ...{ verdict, reason, cases: [first, ...others] satisfies GateReport['cases'] },
    warnings: warningsOf(runs, found),
    configDifferences: (found.config_differences ?? []).map(({ path, value, other_value }) => ({
      path: reportText(path),
      baseline: reportValue(value),
      run: reportValue(other_value),
    })),
  };
}

type Difference = Comparison['data'][number];
type Numbers = Comparison['by_section'][string];

/** Names of the scorers of a run, the main one first; none if the configuration names none. */
function scorerNames({ config, scorers }: Pick<Run, 'config' | 'scorers'>): string[] {
  const stated: unknown = config['scorers'];
  const main: unknown = Array.isArray(stated) ? stated[0]?.name : undefined;
  const names = Object.keys(scorers);
  return typeof main === 'string' ? [main, ...names.filter((name) => name !== main)] : ['main', ...names];
}

/** The items of a scorer: of all sections, then of each; of a single section alone. */
function groupsOf(scorer: string, comparison: Comparison) {
  const sections = Object.entries(comparison.by_section);
  const worseTotal = comparison.meta.total_items ?? comparison.data.length;
  const section = sections.length === 1 ? (sections[0]?.[0] ?? null) : null;
  const numbers: Numbers = comparison;
  const all = { scorer, section, numbers, worse: comparison.data, worseTotal };
  if (sections.length < 2) return [all];
  return [
    all,
    ...sections.map(([section, numbers]) => {
      const worse = comparison.data.filter((item) => item.section === section);
      return { scorer, section, numbers, worse, worseTotal: Math.max(numbers.losses, worse.length) };
    }),
  ];
}

/** @param count comparisons that share the chance of a false alarm */
function intervalOf({ ci95, mean_difference: difference, verdict }: Numbers, count: number): Interval | null {
  if (ci95 === null || difference === null || verdict !== undefined) return null;
  return widenInterval(ci95 as unknown as Interval, difference, count);
}

function reasonOf(verdict: Verdict, interval: Interval | null, maxDrop: number): string {
  if (interval === null) return 'Too few items: fewer than three, or three clusters of them, decide nothing.';
  const where = `${intervalPoints(interval)} points`;
  const limit = `${pointsText(-maxDrop)} points`;
  switch (verdict) {
    case 'not_worse':
      return `The interval of the difference, ${where}, is above ${limit}.`;
    case 'worse':
      return `The interval of the difference, ${where}, is below ${limit}.`;
    case 'undecided':
      return `The interval of the difference, ${where}, contains ${limit}: more items or repetitions would decide.`;
  }
}

const worstOf = (items: readonly Difference[]): Difference[] =>
  items.toSorted((a, b) => a.difference - b.difference);

const worseItem = (item: Difference): WorseItem => ({
  section: reportText(item.section),
  order_index: item.order_index,
  item_id: reportValue(item.item_id) ?? null,
  baseline_score: item.score,
  score: item.other_score,
});

/** Members of a configuration that say how outputs are scored. */
const SCORING = /^\/(?:checker|checker_mode|judge|reasoning|scorers)(?:\/|$)/;

function warningsOf({ baseline: { run: baseline, label }, run }: ComparedRuns, found: Comparison): string[] {
  const { paired } = found;
  const items = countOf(paired, 'item');
  const warnings: string[] = [];
  if (label !== undefined && run.labels.includes(label)) {
    warnings.push('The run has the label itself: the baseline is the newest other run with it.');
  }
  if (baseline.dataset_id !== run.dataset_id) {
    warnings.push(`The baseline is of another dataset: only the ${items} that both have are compared.`);
  } else if (baseline.dataset_version !== run.dataset_version) {
    const versions = `version ${baseline.dataset_version} of the dataset, and the run version ${run.dataset_version}`;
    warnings.push(`The baseline is of ${versions}: only the ${items} that both have are compared.`);
  } else if (paired < Math.max(itemsOf(baseline), itemsOf(run))) {
    warnings.push(`Only the ${items} that have a score in both runs are compared.`);
  }
  if (paired < FEW_ITEMS) warnings.push(`A comparison of ${items} says little, whatever the interval.`);
  if (found.config_differences?.some(({ path }) => SCORING.test(path))) {
    warnings.push('The two runs are not scored in the same way.');
  }
  return warnings;
}

export const itemsOf = (run: Run): number => run.counts.total / repetitionsOf(run);

/** Results of an item that are looked at. */
const MAX_RESULTS = 10;

/** Of several repetitions, the baseline's best answer and the run's worst. */
async function readItemTexts(
  service: ServiceClient,
  { baseline, run }: { readonly baseline: Run; readonly run: Run },
  item: Difference,
): Promise<ItemTexts> {
  const resultsOf = async ({ id }: Run, section: string, index: number): Promise<RunResult[]> => {
    const query = { item_hash: item.item_hash, section, include: 'item', limit: MAX_RESULTS } as const;
    const reply = service.api.GET('/runs/{id}/results', { params: { ...runParams(id), query } });
    return (await service.read(reply)).value.data.filter(({ order_index }) => order_index === index);
  };
  const [before, now] = await Promise.all([
    resultsOf(baseline, item.section, item.order_index),
    resultsOf(run, item.other_section, item.other_order_index),
  ]);
  const best = before.toSorted((a, b) => (b.score ?? -1) - (a.score ?? -1))[0];
  const worst = now.toSorted((a, b) => (a.score ?? 2) - (b.score ?? 2))[0];
  const content = (worst ?? best)?.item as Content | null | undefined;
  return {
    question: questionOf(content),
    expected: reportValue(content?.answer) ?? null,
    baseline_output: outputOf(best),
    output: outputOf(worst),
  };
}

interface Content {
  readonly inputs?: { readonly prompt?: unknown; readonly messages?: unknown } | null;
  readonly answer?: unknown;
}

function questionOf(content: Content | null | undefined): string | null {
  const { prompt, messages } = content?.inputs ?? {};
  if (prompt !== undefined) return reportValue(prompt) ?? null;
  const last: unknown = Array.isArray(messages) ? messages.at(-1)?.content : undefined;
  return reportValue(last ?? content?.inputs) ?? null;
}

function outputOf(result: RunResult | undefined): string | null {
  const { output, error } = result ?? {};
  if (error != null) return reportText(`error ${error.code}`);
  return reportValue(output) ?? null;
}

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

/** What a gate compares, and how much worse the run may be. */
export interface GateComparison {
  readonly baseline: Baseline;
  readonly run: Run;
  readonly maxDrop: number;
  /** Decides with this scorer, and this clustering. */
  readonly query: ComparisonQuery;
}

/** The parts of a report that come from comparisons. */
export type ComparedGate = Pick<GateReport, 'verdict' | 'reason' | 'cases' | 'warnings'> &
  Pick<GateReport['about'], 'configDifferences'>;

/** Items of a scorer that a report can name, and how many of their texts are read. */
const MAX_ITEMS = 500;
const MAX_ITEMS_WITH_TEXTS = 20;
const ITEMS_AT_A_TIME = 4;
/** Fewer pairs say little, whatever their interval. */
const FEW_ITEMS = 10;

/**
 * Compares the run of a gate with its baseline: by the scorer that decides, then by every other scorer of both, each in
 * all sections and in each of them.
 *
 * @throws CliError `nothing_to_compare`
 */
export async function compareGate(service: ServiceClient, gate: GateComparison): Promise<ComparedGate> {
  const { run, maxDrop, query } = gate;
  const baseline = gate.baseline.run;
  const ids = { id: baseline.id, otherId: run.id };
  const found = await readComparison(service, ids, query, MAX_ITEMS);
  if (found.reason !== null) {
    throw new CliError('nothing_to_compare', `No items of the baseline and the run pair: ${found.reason}`);
  }
  const names = scorerNames(run);
  const deciding = query.scorer ?? names[0] ?? 'main';
  const both = names.filter((name) => Object.hasOwn(baseline.scorers, name) && name !== deciding);
  const comparisons: [string, Comparison][] = [[deciding, found]];
  for (const scorer of both) {
    comparisons.push([scorer, await readComparison(service, ids, { ...query, scorer }, MAX_ITEMS)]);
  }
  const drafts = comparisons.flatMap(([scorer, comparison]) => draftsOf(scorer, comparison));
  const cases = drafts.map((draft, index) =>
    caseOf(draft, index === 0 ? 1 : drafts.length - 1, index === 0, maxDrop),
  );
  const [first, ...others] = cases as [GateCase, ...GateCase[]];
  const texts = new Map<Difference, WorseItem>();
  const worst = worstOf(found.data).slice(0, MAX_ITEMS_WITH_TEXTS);
  while (worst.length > 0) {
    const read = worst.splice(0, ITEMS_AT_A_TIME).map(async (item) => {
      texts.set(item, { ...worseItem(item), ...(await readItemTexts(service, { baseline, run }, item)) });
    });
    await Promise.all(read);
  }
  const named = (of: readonly Difference[]): WorseItem[] =>
    worstOf(of).map((item) => texts.get(item) ?? worseItem(item));
  return {
    verdict: first.verdict,
    reason: first.reason,
    cases: [
      { ...first, worse_items: named(drafts[0]?.worse ?? []) },
      ...others
        .map((one, index) => ({ ...one, worse_items: named(drafts[index + 1]?.worse ?? []) }))
        .sort((a, b) => Number(b.verdict === 'worse') - Number(a.verdict === 'worse')),
    ],
    warnings: warningsOf(gate, found),
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

interface Draft {
  readonly scorer: string;
  readonly section: string | null;
  readonly numbers: Numbers;
  readonly worse: readonly Difference[];
  readonly worseTotal: number;
}

/** All sections, then each; a single section alone. */
function draftsOf(scorer: string, comparison: Comparison): Draft[] {
  const sections = Object.entries(comparison.by_section);
  const worseTotal = comparison.meta.total_items ?? comparison.data.length;
  const only = sections.length === 1 ? (sections[0]?.[0] ?? null) : null;
  const all = { scorer, section: only, numbers: comparison, worse: comparison.data, worseTotal };
  if (sections.length < 2) return [all];
  return [
    all,
    ...sections.map(([section, numbers]) => {
      const worse = comparison.data.filter((item) => item.section === section);
      return { scorer, section, numbers, worse, worseTotal: Math.max(numbers.losses, worse.length) };
    }),
  ];
}

function caseOf(
  { scorer, section, numbers, worseTotal }: Draft,
  count: number,
  decides: boolean,
  maxDrop: number,
): GateCase {
  const { paired, mean, other_mean, mean_difference, ci95 } = numbers;
  const interval =
    ci95 === null || mean_difference === null || numbers.verdict !== undefined
      ? null
      : widenInterval(ci95 as unknown as Interval, mean_difference, count);
  const verdict = verdictOf(interval, maxDrop);
  return {
    scorer: reportText(scorer),
    section: section === null ? null : reportText(section),
    ...{ decides, verdict, reason: reasonOf(verdict, interval, maxDrop), paired },
    ...{ baseline_mean: mean, mean: other_mean, mean_difference, interval },
    ...{ worse_total: worseTotal, worse_items: [] },
  };
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

/** The largest drops first. */
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

function warningsOf(
  { baseline: { run: baseline, label }, run }: GateComparison,
  found: Comparison,
): string[] {
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

/** Items that a run selects. */
export const itemsOf = (run: Run): number => run.counts.total / repetitionsOf(run);

/** Results of an item that are looked at. */
const MAX_RESULTS = 10;

/**
 * What an item asks, and what two runs answered: of several repetitions, the baseline's best answer and the run's worst.
 */
async function readItemTexts(
  service: ServiceClient,
  { baseline, run }: { readonly baseline: Run; readonly run: Run },
  item: Difference,
): Promise<ItemTexts> {
  const one = { hash: item.item_hash, section: item.section, orderIndex: item.order_index };
  const other = { ...one, section: item.other_section, orderIndex: item.other_order_index };
  const [before, now] = await Promise.all([
    resultsOf(service, baseline, one),
    resultsOf(service, run, other),
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

interface Place {
  readonly hash: string;
  readonly section: string;
  readonly orderIndex: number;
}

async function resultsOf(
  service: ServiceClient,
  { id }: Run,
  { hash, section, orderIndex }: Place,
): Promise<RunResult[]> {
  const query = { item_hash: hash, section, include: 'item', limit: MAX_RESULTS } as const;
  const reply = service.api.GET('/runs/{id}/results', { params: { ...runParams(id), query } });
  return (await service.read(reply)).value.data.filter((result) => result.order_index === orderIndex);
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

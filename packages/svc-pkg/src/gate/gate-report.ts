import type { Run } from '@svc/client';
import type { Interval, Verdict } from '../evaluation.ts';
import { countOf, formatFacts, pointsText } from '../text/format.ts';
import type { Sight } from './sight.ts';

/** What an item asks, and what two runs answered, as lines of `reportText`; null for nothing. */
export interface ItemTexts {
  readonly question: string | null;
  readonly expected: string | null;
  readonly baseline_output: string | null;
  readonly output: string | null;
}

/** An item whose score is lower than the baseline's, with its texts if they were read. */
export interface WorseItem extends Partial<ItemTexts> {
  readonly section: string;
  readonly order_index: number;
  readonly item_id: string | null;
  readonly baseline_score: number;
  readonly score: number;
}

/** The comparison of the items of one scorer, of one section or all. */
export interface GateCase {
  readonly scorer: string;
  /** Null for all sections. */
  readonly section: string | null;
  /** Whether this is the comparison that decides; the others are for information. */
  readonly decides: boolean;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly paired: number;
  readonly baseline_mean: number | null;
  readonly mean: number | null;
  readonly mean_difference: number | null;
  /** Wider than a 95 % interval if several cases inform. */
  readonly interval: Interval | null;
  /** Items with a lower score. */
  readonly worse_total: number;
  /** The first of them. */
  readonly worse_items: readonly WorseItem[];
}

/** A run of a gate. */
export interface GateRun extends Pick<Run, 'id' | 'dataset_id' | 'dataset_version' | 'run_hash'> {
  /** The label that named the baseline. */
  readonly label?: string;
}

/** How many results people have judged, and how the scorer that decides agrees with them. */
export interface LabelCheck {
  readonly required: number;
  readonly found: number;
  readonly agreement: number | null;
  readonly kappa: number | null;
}

/** Everything that a gate says, with the names and in the order of its JSON. Texts from the service are lines of `reportText`. */
export interface GateReport {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly exit_code: number;
  readonly max_drop: number;
  readonly baseline: GateRun;
  readonly run: GateRun;
  readonly labels?: LabelCheck;
  /** The bar that was sealed before the run, and the verdict of the service on it. */
  readonly sealed?: { readonly hash: string } & NonNullable<Run['verdict']>;
  /** Null if it is unknown. */
  readonly sight: Sight | null;
  /** The deciding case is the first. */
  readonly cases: readonly GateCase[];
  readonly warnings: readonly string[];
  /** What only other forms of the report show. */
  readonly about: {
    readonly dataset: string;
    readonly startedAt: string;
    readonly durationMs: number;
    /** Whether the gate fails: it is worse, or undecided if that fails. */
    readonly fails: boolean;
    /** Members of the configuration that differ: JSON Pointer, and both values. */
    readonly configDifferences: readonly {
      readonly path: string;
      readonly baseline: string | undefined;
      readonly run: string | undefined;
    }[];
  };
}

/** Verdicts in words. */
export const VERDICT_TEXTS: Readonly<Record<Verdict, string>> = {
  not_worse: 'not worse',
  worse: 'worse',
  undecided: 'undecided',
};

/** `-2.3 to 0.4`, in points. */
export function intervalPoints([low, high]: Interval): string {
  return `${pointsText(low)} to ${pointsText(high)}`;
}

/** `12 of 50 required, agreement 0.9, kappa 0.75`. */
export function labelText({ found, required, agreement, kappa }: LabelCheck): string {
  const agrees = agreement === null ? '' : `, agreement ${scoreText(agreement)}`;
  return `${found} of ${required} required${agrees}${kappa === null ? '' : `, kappa ${scoreText(kappa)}`}`;
}

/** `met, sealed at …, 3 outputs may be older`. */
export function sealText({ sealed }: GateReport): string | null {
  if (sealed === undefined) return null;
  const { outcome, sealed_at: at, outputs_before: before } = sealed;
  return `${outcome.replace('_', ' ')}, sealed at ${at}, ${countOf(before, 'output')} may be older`;
}

/** Where an item is: `test 12 (q12)`. */
export function placeOf({ section, order_index, item_id }: WorseItem): string {
  return `${section} ${order_index}${item_id === null ? '' : ` (${item_id})`}`;
}

/** The texts of an item, each with its name; none if they were not read. */
export function factsOf({
  question,
  expected = null,
  baseline_output = null,
  output = null,
}: WorseItem): readonly (readonly [name: string, text: string | null])[] {
  if (question === undefined) return [];
  return [
    ['question', question],
    ['expected', expected],
    ['baseline', baseline_output],
    ['now', output],
  ];
}

/** A score with four digits. */
export const scoreText = (score: number | null): string =>
  score === null ? 'none' : String(Number(score.toPrecision(4)));

/** The numbers of a case in one sentence. */
export function caseText({
  paired,
  baseline_mean,
  mean,
  mean_difference: difference,
  interval,
}: GateCase): string {
  if (difference === null) return `${paired} items compared.`;
  const bounds = interval === null ? 'without an interval' : `interval ${intervalPoints(interval)}`;
  const change = `${scoreText(baseline_mean)} → ${scoreText(mean)}`;
  return `${paired} items compared: ${change}, a difference of ${pointsText(difference)} points (${bounds}).`;
}

/** The verdict in one line. */
export const verdictLine = ({ verdict, reason }: GateReport): string =>
  `svc-pkg: ${VERDICT_TEXTS[verdict]}: ${reason}\n`;

/** A gate for people. */
export function gateText(report: GateReport): string {
  const { baseline } = report;
  const [deciding, ...others] = report.cases;
  const interval = deciding?.interval ?? null;
  return formatFacts([
    ['verdict', VERDICT_TEXTS[report.verdict]],
    ['reason', report.reason],
    ['scorer', deciding?.scorer],
    ['common items', deciding?.paired],
    ['mean', deciding && `${scoreText(deciding.baseline_mean)} → ${scoreText(deciding.mean)}`],
    [
      'difference',
      deciding?.mean_difference == null ? null : `${pointsText(deciding.mean_difference)} points`,
    ],
    ['95 % interval', interval && `${intervalPoints(interval)} points`],
    ['allowed drop', `${pointsText(report.max_drop)} points`],
    ['worse items', deciding?.worse_total],
    ['judged results', report.labels && labelText(report.labels)],
    ['baseline', `${baseline.id}${baseline.label === undefined ? '' : ` (label ${baseline.label})`}`],
    ['run', report.run.id],
    ['run hash', report.run.run_hash],
    ['sealed bar', sealText(report)],
    ...report.warnings.map((warning) => ['note', warning] as const),
    ...others
      .filter(({ verdict }) => verdict === 'worse')
      .map((one) => ['also worse', `${one.scorer}, ${one.section ?? 'all sections'}`] as const),
  ]);
}

/** GitHub shows ten of a kind for each step. */
const MAX_CASES = 9;

/** A gate as workflow commands of GitHub Actions, one per line: its verdict, and each section that got worse. */
export function githubAnnotations(report: GateReport): string {
  const kind = report.about.fails ? 'error' : report.verdict === 'undecided' ? 'warning' : 'notice';
  const [deciding, ...others] = report.cases;
  const numbers = deciding === undefined ? '' : ` ${caseText(deciding)}`;
  const worse = others.filter(({ verdict }) => verdict === 'worse').slice(0, MAX_CASES);
  return [
    command(
      kind,
      `Gate of ${report.about.dataset}: ${VERDICT_TEXTS[report.verdict]}`,
      `${report.reason}${numbers}`,
    ),
    ...worse.map((one) =>
      command('warning', `Worse: ${one.scorer}, ${one.section ?? 'all sections'}`, caseText(one)),
    ),
  ].join('');
}

/** Values escaped as `@actions/core` does it. */
function command(kind: string, title: string, message: string): string {
  return `::${kind} title=${property(title)}::${data(message)}\n`;
}

const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

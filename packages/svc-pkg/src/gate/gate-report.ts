import type { Run } from '@svc/client';
import type { Interval, Verdict } from '../evaluation.ts';
import { countOf } from '../text/format.ts';
import { pointsText } from '../text/report-text.ts';
import type { Sight } from './sight.ts';

/** An item whose score is lower than the baseline's. Texts are lines of `reportText`. */
export interface WorseItem {
  readonly section: string;
  readonly orderIndex: number;
  readonly itemId: string | undefined;
  readonly baselineScore: number;
  readonly score: number;
  /** What was asked and answered; undefined if it was not read. */
  readonly texts: ItemTexts | undefined;
}

/** Members are undefined if there is nothing to show. */
export interface ItemTexts {
  readonly question: string | undefined;
  readonly expected: string | undefined;
  readonly baselineOutput: string | undefined;
  readonly output: string | undefined;
}

/** The comparison of the items of one scorer, of one section or all. */
export interface GateCase {
  readonly scorer: string;
  /** Null for all sections. */
  readonly section: string | null;
  /** Whether this is the comparison that decides; the others are for information. */
  readonly decides: boolean;
  readonly paired: number;
  readonly baselineMean: number | null;
  readonly mean: number | null;
  readonly difference: number | null;
  /** Wider than a 95 % interval if several cases inform. */
  readonly interval: Interval | null;
  readonly verdict: Verdict;
  readonly reason: string;
  /** The first of them. */
  readonly worseItems: readonly WorseItem[];
  /** Items with a lower score. */
  readonly worseTotal: number;
}

/** A run of a gate. */
export interface GateRun {
  readonly id: string;
  readonly datasetId: string;
  readonly version: number;
  /** SHA-256 of its items, configuration, bar and results. */
  readonly runHash: string | null;
}

/** How many results people have judged, and how the scorer that decides agrees with them. */
export interface LabelCheck {
  readonly required: number;
  readonly found: number;
  readonly agreement: number | null;
  readonly kappa: number | null;
}

/** Everything that a gate says. Texts from the service are lines of `reportText`. */
export interface GateReport {
  readonly dataset: string;
  readonly maxDrop: number;
  readonly baseline: GateRun;
  /** The label that named the baseline. */
  readonly label: string | undefined;
  readonly run: GateRun;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly verdict: Verdict;
  readonly reason: string;
  /** Whether the gate fails: it is worse, or undecided if that fails. */
  readonly fails: boolean;
  readonly exitCode: number;
  /** Null if it is unknown. */
  readonly sight: Sight | null;
  readonly labels?: LabelCheck;
  /** The bar that was sealed before the run, and the verdict of the service on it. */
  readonly sealed?: { readonly hash: string } & NonNullable<Run['verdict']>;
  /** The deciding case is the first. */
  readonly cases: readonly GateCase[];
  readonly warnings: readonly string[];
  /** Members of the configuration that differ: JSON Pointer, and both values. */
  readonly configDifferences: readonly {
    readonly path: string;
    readonly baseline: string | undefined;
    readonly run: string | undefined;
  }[];
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
export function placeOf({ section, orderIndex, itemId }: WorseItem): string {
  return `${section} ${orderIndex}${itemId === undefined ? '' : ` (${itemId})`}`;
}

/** The texts of an item, each with its name; none if they were not read. */
export function factsOf({
  texts,
}: WorseItem): readonly (readonly [name: string, text: string | undefined])[] {
  if (texts === undefined) return [];
  return [
    ['question', texts.question],
    ['expected', texts.expected],
    ['baseline', texts.baselineOutput],
    ['now', texts.output],
  ];
}

/** A score with four digits. */
export const scoreText = (score: number | null): string =>
  score === null ? 'none' : String(Number(score.toPrecision(4)));

/** The numbers of a case in one sentence. */
export function caseText({ paired, baselineMean, mean, difference, interval }: GateCase): string {
  if (difference === null) return `${paired} items compared.`;
  const bounds = interval === null ? 'without an interval' : `interval ${intervalPoints(interval)}`;
  const change = `${scoreText(baselineMean)} → ${scoreText(mean)}`;
  return `${paired} items compared: ${change}, a difference of ${pointsText(difference)} points (${bounds}).`;
}

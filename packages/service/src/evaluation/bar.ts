import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { FromSchema } from 'json-schema-to-ts';
import { ConfigProblems } from './config/config-problems.ts';
import { type RunConfig, scorersOf } from './config/run-config.ts';
import { type ComparedScores, verdictOf } from './statistics/compare-scores.ts';
import type { GroupScores } from './statistics/group-scores.ts';
import { CONFIDENCE, type Interval } from './statistics/intervals.ts';

const SHARE = { type: 'number', minimum: 0, maximum: 1 } as const;

export const BAR_SCHEMA = {
  type: 'object',
  description:
    'what the run must reach, sealed before its first request: `at_least`, or `baseline` with `max_drop`. It cannot be changed',
  properties: {
    metric: { type: 'string', enum: ['mean', 'pass_rate'] },
    scorer: { type: 'string', minLength: 1, maxLength: 64, description: 'by default the main one' },
    at_least: { ...SHARE, description: 'the bar is met if the interval of the metric is at or above it' },
    baseline: { type: 'string', format: 'uuid', description: 'a run to compare with, paired by item' },
    max_drop: { ...SHARE, description: 'how much worse than `baseline` the run may be' },
    confidence: { type: 'number', minimum: 0.5, maximum: 0.9999, default: CONFIDENCE },
  },
  required: ['metric'],
  additionalProperties: false,
} as const;

/** A sealed bar, with its defaults and without absent members. */
export type Bar = FromSchema<typeof BAR_SCHEMA>;

export interface BarVerdict extends ReturnType<typeof barVerdict> {
  readonly sealed_at: string;
  readonly outputs_before: number;
}

const NUMBER_OR_NULL = { type: ['number', 'null'] } as const;

export const BAR_VERDICT_SCHEMA = {
  type: 'object',
  properties: {
    outcome: { type: 'string', enum: ['met', 'not_met', 'undecided'] },
    estimate: { ...NUMBER_OR_NULL, description: 'the metric, or its difference from the baseline' },
    ci: { type: ['array', 'null'], items: { type: 'number' }, minItems: 2, maxItems: 2 },
    confidence: { type: 'number', description: 'of `ci`' },
    sealed_at: { type: 'string', format: 'date-time' },
    outputs_before: {
      type: 'integer',
      minimum: 0,
      description: 'outputs that may be older than the bar: of items, of earlier runs, and sent by clients',
    },
  },
  required: ['outcome', 'estimate', 'ci', 'confidence', 'sealed_at', 'outputs_before'],
} as const;

/** Parses the bar of a request. @throws RunError `invalid_request` */
export function parseBar(value: JsonObject, config: RunConfig): Bar {
  const problems = new ConfigProblems('/bar');
  const stated = Object.entries(value).filter(([, member]) => member !== null);
  const bar = { confidence: CONFIDENCE, ...Object.fromEntries(stated) } as Bar;
  const { at_least: atLeast, baseline, max_drop: maxDrop, scorer } = bar;
  if ((atLeast === undefined) === (baseline === undefined)) {
    problems.add('must have either `at_least` or `baseline`');
  }
  if ((baseline === undefined) !== (maxDrop === undefined)) {
    problems.add('must be set with `baseline`, and only then', ['max_drop']);
  }
  const names = scorersOf(config).map(({ name }) => name);
  if (scorer !== undefined && !names.includes(scorer)) {
    problems.add(`must be a scorer of the configuration: ${names.join(', ')}`, ['scorer']);
  }
  if (!problems.isEmpty) throw problems.toError();
  return baseline === undefined ? bar : { ...bar, baseline: baseline.toLowerCase() };
}

const isShare = (value: JsonValue | undefined): boolean =>
  typeof value === 'number' && value >= 0 && value <= 1;

export function isBar(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const {
    metric,
    scorer = '',
    at_least: atLeast,
    baseline,
    max_drop: maxDrop,
    confidence,
    ...others
  } = value;
  return (
    Object.keys(others).length === 0 &&
    (metric === 'mean' || metric === 'pass_rate') &&
    typeof scorer === 'string' &&
    isShare(confidence) &&
    confidence !== 1 &&
    (baseline === undefined
      ? isShare(atLeast) && maxDrop === undefined
      : typeof baseline === 'string' && isShare(maxDrop) && atLeast === undefined)
  );
}

export function isBarVerdict(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { outcome, estimate, ci, confidence, sealed_at: sealedAt, outputs_before: before, ...others } = value;
  const isNumber = (one: JsonValue | undefined): boolean => typeof one === 'number';
  return (
    Object.keys(others).length === 0 &&
    (outcome === 'met' || outcome === 'not_met' || outcome === 'undecided') &&
    (estimate === null || isNumber(estimate)) &&
    (ci === null || (Array.isArray(ci) && ci.length === 2 && ci.every(isNumber))) &&
    isShare(confidence) &&
    typeof sealedAt === 'string' &&
    !Number.isNaN(Date.parse(sealedAt)) &&
    Number.isSafeInteger(before)
  );
}

/** Whether a provider's outputs may be older than a bar: items hold them, or clients send them. */
export const isOlderThanBar = (providerType: unknown): boolean =>
  providerType === 'item_field' || providerType === 'external';

/** Fewer results decide nothing, whatever their interval. */
const MIN_RESULTS = 3;

/** Digits in which sums in any order agree. */
const DIGITS = 12;

/** A number as packages and verdicts state it, whatever the order in which it was added up. */
export const stableNumber = (value: number): number => Number(value.toPrecision(DIGITS));

/** The verdict on a bar. */
export function barVerdict(bar: Bar, found: GroupScores | ComparedScores | null) {
  const { confidence, at_least: atLeast, max_drop: maxDrop = 0, metric } = bar;
  const limit = atLeast === undefined ? maxDrop : -atLeast;
  let [estimate, ci, isFew]: [number | null, Interval | null, boolean] = [null, null, true];
  if (found !== null && 'paired' in found) {
    isFew = found.paired < MIN_RESULTS || found.verdict === 'undecided';
    [estimate, ci] = [found.mean_difference, found.ci95];
  } else if (found !== null) {
    isFew = found.ok < MIN_RESULTS;
    [estimate, ci] = metric === 'mean' ? [found.mean, found.ci95] : [found.pass_rate, found.pass_rate_ci95];
  }
  const verdict = verdictOf(isFew ? null : ci, limit);
  return {
    outcome: verdict === 'not_worse' ? 'met' : verdict === 'worse' ? 'not_met' : 'undecided',
    estimate: estimate === null ? null : stableNumber(estimate),
    ci: ci === null ? null : [stableNumber(ci[0]), stableNumber(ci[1])],
    confidence,
  } as const;
}

import { MAX_LABEL_TYPES, MAX_OUTPUT_LABELS, MAX_TYPE_LENGTH, VERDICTS } from '@svc/jsonl-v23/runs';
import { type Schema, shape } from '@svc/service';
import {
  AGREEMENT_CELLS,
  type JudgedResult,
  type LabelOfResult,
  PAIR_BY,
  type RunComparison,
  type RunDifference,
  type StoredLabel,
} from '@svc/service/store';
import {
  COUNT,
  ITEM_ID,
  NUMBER_OR_NULL,
  POSITIVE,
  pageMembers,
  record,
  SHA256,
  storedJson,
  TEXT,
  TEXT_OR_NULL,
  TIME_OR_NULL,
} from '../docs/schemas.ts';

const RATE: Schema = { type: ['number', 'null'], minimum: 0, maximum: 1 };

const INTERVAL: Schema = {
  type: ['array', 'null'],
  items: { type: 'number' },
  minItems: 2,
  maxItems: 2,
  description: '95 % confidence interval',
};

const WARNINGS: Schema = {
  type: 'array',
  items: shape({
    code: { type: 'string', enum: ['few_items', 'few_clusters'] },
    message: TEXT,
  }),
  description: 'below 10 scored items, or 10 clusters of them',
};

const NUMBERS: Readonly<Record<string, Schema>> = {
  mean: { ...NUMBER_OR_NULL, description: 'mean score of the scored results' },
  stderr: { ...NUMBER_OR_NULL, description: 'standard error of the mean, clustered by item or `cluster_by`' },
  ci95: { ...INTERVAL, description: '95 % confidence interval of the mean' },
  passed: COUNT,
  wrong: {
    ...COUNT,
    description:
      'failed their checks; a score between 0 and 1 without a verdict has neither passed nor failed',
  },
  no_output: { ...COUNT, description: 'failed requests' },
  pass_rate: {
    ...RATE,
    description:
      'share that passed of the results that passed or failed, failed requests included; null if no score came with a verdict',
  },
  pass_rate_ci95: INTERVAL,
  pass_rate_scored: { ...RATE, description: 'share that passed of the scored results that passed or failed' },
  pass_rate_scored_ci95: INTERVAL,
};
const BY_K: Readonly<Record<string, Schema>> = {
  pass_at_k: {
    type: 'object',
    additionalProperties: RATE,
    description: 'probability that at least one of k attempts passes, by k up to the number of repetitions',
  },
  pass_hat_k: {
    type: 'object',
    additionalProperties: RATE,
    description: 'probability that all of k attempts pass, by k up to the number of repetitions',
  },
};
const COUNTS = { results: COUNT, ok: COUNT, failed: COUNT, unscored: COUNT };

export const GROUP_SCORES: Readonly<Record<string, Schema>> = {
  ...NUMBERS,
  ...BY_K,
  ...COUNTS,
  warnings: WARNINGS,
};
const GROUPS: Schema = { type: 'object', additionalProperties: shape(GROUP_SCORES) };

export const RUN_SCORES: Schema = shape(
  { ...GROUP_SCORES, by_section: GROUPS, by_type: GROUPS, by_tag: GROUPS },
  [...Object.keys(BY_K), 'by_section', 'by_type', 'by_tag'],
);

export const SCORER_QUERY: Schema = {
  type: 'string',
  description: 'name of the scorer; the main one by default',
};

export const RUN_SCORERS: Schema = {
  type: 'object',
  additionalProperties: shape(GROUP_SCORES, Object.keys(BY_K)),
  description: 'scores by the name of the scorer; empty if the run names none, and until they are known',
};

export const COST: Schema = {
  ...shape({ amount: { type: 'number', minimum: 0 }, currency: TEXT }),
  type: ['object', 'null'],
  description: 'cost of the tokens at `config.price`, plus those of the judge at `config.judge.price`',
};

export const LATENCY: Schema = shape({ p50: NUMBER_OR_NULL, p90: NUMBER_OR_NULL, p99: NUMBER_OR_NULL });

const MEANS_MEMBERS = {
  mean: NUMBER_OR_NULL,
  other_mean: NUMBER_OR_NULL,
  mean_difference: { ...NUMBER_OR_NULL, description: 'other minus this' },
};
const MEANS: Schema = shape(MEANS_MEMBERS);

const COMPARED_SCORES: Readonly<Record<string, Schema>> = {
  paired: { ...COUNT, description: 'items with a score in both runs' },
  ...MEANS_MEMBERS,
  stderr: NUMBER_OR_NULL,
  ci95: INTERVAL,
  wins: { ...COUNT, description: 'items with a higher score in the other run' },
  losses: COUNT,
  ties: COUNT,
  p_value: {
    ...RATE,
    description: 'exact McNemar test of the pairs that passed or failed in both runs; null without one',
  },
  verdict: {
    type: 'string',
    enum: ['undecided'],
    description:
      'only below three pairs, or three clusters of them, whatever the interval; else the interval says how the runs differ',
  },
};

export const COMPARED = record<RunComparison>({
  by_section: {
    type: 'object',
    additionalProperties: shape(COMPARED_SCORES, ['verdict']),
    description: 'comparison by section of this run: the 1,000 sections with most pairs',
  },
  pair_by: { type: 'string', enum: PAIR_BY },
  cluster_by: { type: ['string', 'null'], description: 'value that clusters the standard errors' },
  reason: {
    type: ['string', 'null'],
    description: 'why no items were paired, and which `pair_by` would pair them; null if some were',
  },
  changed_outputs: { ...COUNT, description: 'pairs with different outputs' },
  latency_ms: { ...MEANS, description: 'mean per result, over results where both runs know it' },
  input_tokens: MEANS,
  output_tokens: MEANS,
  cost: {
    ...shape({ ...MEANS_MEMBERS, currency: TEXT }),
    type: ['object', 'null'],
    description: 'mean per result; null unless both runs have prices in the same currency',
  },
  config_differences: {
    type: ['array', 'null'],
    maxItems: 100,
    items: shape(
      {
        path: { type: 'string', description: 'JSON Pointer into the configuration' },
        value: { description: 'in this run; absent without the member' },
        other_value: { description: 'in the other run; absent without the member' },
      },
      ['value', 'other_value'],
    ),
    description: 'the first 100 members in which the configurations differ; null for very large ones',
  },
});

export const DIFFERENCE = record<PairedItem>({
  section: TEXT,
  order_index: COUNT,
  item_id: storedJson(ITEM_ID),
  item_hash: SHA256,
  other_section: TEXT,
  other_order_index: COUNT,
  score: { type: 'number', description: 'mean over the repetitions' },
  other_score: { type: 'number' },
  difference: { type: 'number', description: 'other minus this' },
  passed: {
    type: ['boolean', 'null'],
    description: 'true if more than half of the repetitions that passed or failed passed; null without one',
  },
  other_passed: { type: ['boolean', 'null'] },
  output_changed: { type: 'boolean', description: 'true if any output differs' },
});
type PairedItem = RunDifference & { readonly difference: number };

export const COMPARISON: Schema = shape(
  { ...COMPARED_SCORES, ...COMPARED.members, ...pageMembers(DIFFERENCE.schema) },
  ['verdict'],
);

export const COMPARED_SLICES: Schema = shape({
  data: {
    type: 'array',
    maxItems: 50,
    items: shape(
      {
        values: {
          type: 'array',
          items: {},
          minItems: 1,
          maxItems: 1,
          description: 'the value of `by`; null for items without it',
        },
        ...COMPARED_SCORES,
      },
      ['verdict'],
    ),
  },
});

const VERDICT: Schema = { type: 'string', enum: VERDICTS };
export const VERDICT_OR_NULL: Schema = {
  type: ['string', 'null'],
  enum: [...VERDICTS, null],
  description: 'null for a label that only has a note or types',
};
export const TYPES: Schema = {
  type: 'array',
  maxItems: MAX_LABEL_TYPES,
  items: { type: 'string', minLength: 1, maxLength: MAX_TYPE_LENGTH },
  description: 'kinds of failures, each once',
};

const MEMBERS = {
  by: { type: 'string', description: 'name of the key; `anonymous` without keys' },
  verdict: VERDICT_OR_NULL,
  note: TEXT_OR_NULL,
  types: TYPES,
  created_at: { ...TIME_OR_NULL, description: 'null for a label that is deleted' },
  updated_at: TIME_OR_NULL,
  imported: { type: 'boolean', description: 'true if it came with a package, which says who made it' },
};

export const LABEL = record<StoredLabel>(MEMBERS);

export const RESULT_LABELS: Schema = {
  type: 'array',
  maxItems: MAX_OUTPUT_LABELS,
  items: LABEL.schema,
  description: 'labels of the output in all runs, newest first',
};

const OF_RESULT = {
  section: TEXT,
  order_index: COUNT,
  repetition: POSITIVE,
  item_id: storedJson(ITEM_ID),
  item_hash: SHA256,
};

export const RESULT_LABEL = record<LabelOfResult>({ ...OF_RESULT, ...MEMBERS });

const NUMBER_OF_LABELS = { labels: COUNT };

export const LABELS: Schema = shape({
  summary: shape({
    results: { ...COUNT, description: 'results with such a label' },
    labels: COUNT,
    pass: COUNT,
    fail: COUNT,
    people: {
      type: 'array',
      maxItems: 100,
      items: shape({ by: TEXT, ...NUMBER_OF_LABELS }),
      description: 'the people with most labels first',
    },
    types: {
      type: 'array',
      maxItems: 100,
      items: shape({ type: TEXT, ...NUMBER_OF_LABELS }),
      description: 'the types with most labels first',
    },
  }),
  ...pageMembers(RESULT_LABEL.schema),
});

export const LABELS_QUERY: Readonly<Record<string, Schema>> = {
  verdict: { ...VERDICT, description: 'labels with this verdict' },
  by: { type: 'string', description: 'labels of this person' },
  type: { type: 'string', description: 'labels with this type' },
  section: { type: 'string', description: 'labels of results of the section of this name' },
};

export const JUDGED_RESULT = record<JudgedResult>({
  ...OF_RESULT,
  cell: { type: 'string', enum: AGREEMENT_CELLS },
  by: { type: 'string', description: 'person who gave the verdict' },
  verdict: VERDICT,
  passed: { type: 'boolean', description: 'verdict of the scorer, or of `other`' },
});

export const AGREEMENT: Schema = shape({
  scorer: { type: ['string', 'null'], description: 'null if `other` is compared' },
  by: TEXT_OR_NULL,
  other: TEXT_OR_NULL,
  n: { ...COUNT, description: 'results with a verdict from both' },
  cells: shape({
    both_pass: COUNT,
    both_fail: COUNT,
    false_pass: { ...COUNT, description: 'the scorer passes what the person fails' },
    false_fail: { ...COUNT, description: 'the scorer fails what the person passes' },
  }),
  agreement: { ...RATE, description: 'share of the results with equal verdicts' },
  kappa: {
    type: ['number', 'null'],
    minimum: -1,
    maximum: 1,
    description: 'Cohen’s; null where chance agreement is 1',
  },
  kappa_ci95: { ...INTERVAL, description: 'interval of Fleiss, Cohen and Everitt, limited to -1 to 1' },
  false_pass_rate: {
    ...RATE,
    description: 'share of the outputs passed by the scorer that the person fails',
  },
  false_pass_rate_ci95: INTERVAL,
  false_fail_rate: {
    ...RATE,
    description: 'share of the outputs failed by the scorer that the person passes',
  },
  false_fail_rate_ci95: INTERVAL,
  base_rate: { ...RATE, description: 'share of the outputs that the person passes' },
  ...pageMembers(JUDGED_RESULT.schema),
});

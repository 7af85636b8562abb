import { MAX_LABEL_TYPES, MAX_OUTPUT_LABELS, MAX_TYPE_LENGTH, VERDICTS } from '@svc/jsonl-v23/internal';
import { type Schema, shape } from '@svc/service';
import { AGREEMENT_CELLS, type JudgedResult, type LabelOfResult, type StoredLabel } from '@svc/store';
import { type ApiRecord, record, storedJson } from '../docs/record.ts';
import { COUNT, ITEM_ID, POSITIVE, SHA256, TEXT, TEXT_OR_NULL, TIME_OR_NULL } from '../docs/scalars.ts';
import { pageMembers } from '../docs/schemas.ts';
import { INTERVAL } from './score-schemas.ts';

const SHARE: Schema = { type: ['number', 'null'], minimum: 0, maximum: 1 };
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

/** What a person says of an output. */
export const LABEL: ApiRecord<StoredLabel> = record<StoredLabel>(MEMBERS);

/** The labels of a result. */
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

/** A label, and the result that it is of. */
export const RESULT_LABEL: ApiRecord<LabelOfResult> = record<LabelOfResult>({ ...OF_RESULT, ...MEMBERS });

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

/** A result with verdicts of both. */
export const JUDGED_RESULT: ApiRecord<JudgedResult> = record<JudgedResult>({
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
  agreement: { ...SHARE, description: 'share of the results with equal verdicts' },
  kappa: {
    type: ['number', 'null'],
    minimum: -1,
    maximum: 1,
    description: 'Cohen’s; null where chance agreement is 1',
  },
  kappa_ci95: { ...INTERVAL, description: 'interval of Fleiss, Cohen and Everitt, limited to -1 to 1' },
  false_pass_rate: {
    ...SHARE,
    description: 'share of the outputs passed by the scorer that the person fails',
  },
  false_pass_rate_ci95: INTERVAL,
  false_fail_rate: {
    ...SHARE,
    description: 'share of the outputs failed by the scorer that the person passes',
  },
  false_fail_rate_ci95: INTERVAL,
  base_rate: { ...SHARE, description: 'share of the outputs that the person passes' },
  ...pageMembers(JUDGED_RESULT.schema),
});

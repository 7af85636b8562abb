import { type Field, type FieldText, type FieldValue, type NamedFields, nameFields } from './field.ts';

export interface ResultField extends Field {
  /** The meaning of a package's line without the field; null without one. */
  readonly default?: number | boolean;
  /** Whether only the store knows it: neither packages, nor tables, nor the API have it. */
  readonly isInternal?: boolean;
  /** Whether the store finds it out: the reader of a package ignores it. */
  readonly isDerived?: boolean;
}

const FIELDS = {
  section: { kind: 'text', isRequired: true },
  sectionOrderIndex: { kind: 'integer', isRequired: true, minimum: 0, isInternal: true },
  orderIndex: { kind: 'integer', isRequired: true, minimum: 0 },
  /** The item's own id: a string, an integer, or null if it has none. */
  itemId: { kind: 'id' },
  repetition: { kind: 'integer', isRequired: true, minimum: 1, default: 1 },
  status: { kind: 'word', isRequired: true, values: ['ok', 'failed', 'unscored'] },
  output: { kind: 'json', description: 'the output of the provider' },
  reasoning: {
    kind: 'long_string',
    description: 'reasoning that the provider sent with the output; never scored',
  },
  /** 0 to 1; null unless the status is ok. */
  score: { kind: 'number', minimum: 0, maximum: 1 },
  passed: { kind: 'boolean' },
  explanation: { kind: 'string' },
  error: { kind: 'failure' },
  /** Milliseconds until the provider's output, retries included; rounded to 0.1. */
  latencyMs: { kind: 'number', minimum: 0, description: 'milliseconds, rounded to 0.1' },
  usage: { kind: 'object', description: 'as the provider reported it' },
  judgeUsage: { kind: 'object', description: 'the same of the judge' },
  judgeCost: { kind: 'number', minimum: 0, description: 'what its judges charged, a part of `cost`' },
  reused: {
    kind: 'boolean',
    isRequired: true,
    default: false,
    description: 'whether an earlier run asked the same, so that its output was taken',
  },
  usageReused: { kind: 'object', description: 'what the reused output took when it was made' },
  /** 32 bytes; null if the item is gone. */
  itemHash: { kind: 'hash', isDerived: true },
  /** Why the output ended; `length` if it was cut at the token limit. Null if unknown. */
  finishReason: { kind: 'name' },
  truncated: {
    kind: 'boolean',
    isRequired: true,
    isDerived: true,
    description: 'whether the output was cut at the token limit',
  },
  /** Requests to the provider; null if it took none, or if unknown. */
  attempts: { kind: 'integer', minimum: 0, maximum: 1_000_000, description: 'requests to the provider' },
  /** What its tokens cost at the prices of the run; null without a price, or unknown. */
  cost: {
    kind: 'number',
    minimum: 0,
    isDerived: true,
    description: 'of its tokens, in the currency of the run’s `cost`',
  },
  omittedAssets: { kind: 'names', description: 'names of assets that the provider was not sent' },
  scoredBy: {
    kind: 'word',
    values: ['checker', 'judge', 'client', 'label'],
    description: 'what gave the score',
  },
  /** What each scorer says, if the run names scorers; else null. The first one gives `score`. */
  scores: { kind: 'scores', description: 'what each scorer says, by its name' },
  traceId: { kind: 'title', description: 'of the client that sent the result' },
  redacted: {
    kind: 'integer',
    isRequired: true,
    minimum: 0,
    default: 0,
    description: 'how many keys of the service were replaced in it, after it was scored',
  },
} as const;

/** In the order of a table's columns. All layers follow: for another field, add it here and to `run_results`. */
export const RESULT_FIELDS: NamedFields<typeof FIELDS> = nameFields(FIELDS);

type Fields = typeof RESULT_FIELDS;

export type ResultName = keyof Fields;

/** The fields that the store does not find out itself. */
export type StatedName = {
  [Name in ResultName]: Fields[Name] extends { readonly isDerived: true } ? never : Name;
}[ResultName];

/** A result as it is made, or as a package has it; a large JSON value may be `Text` instead. */
export type ResultValues<Text = never> = {
  readonly [Name in StatedName]: FieldValue<Fields[Name], Text>;
};

/** A result whose JSON values are texts, as it is stored. */
export type ResultTexts<Names extends ResultName = ResultName, Bytes = never> = {
  readonly [Name in Names]: FieldText<Fields[Name], Bytes>;
};

export const RESULT_FIELD_LIST: readonly (ResultField & { readonly name: ResultName })[] =
  Object.values(RESULT_FIELDS);

export const PUBLIC_RESULT_FIELDS: typeof RESULT_FIELD_LIST = RESULT_FIELD_LIST.filter(
  ({ isInternal = false }) => !isInternal,
);

/** What lists are sorted and bounded by, as `min_<name>` and `max_<name>`: another needs an index of `run_results`. */
export const RESULT_RANGES = {
  score: {
    column: 'score',
    type: 'float8',
    bounds: ['results with at least this score', 'results with at most this score'],
  },
  latency: {
    column: 'latency_ms',
    type: 'float8',
    bounds: [
      'results that took at least so many milliseconds',
      'results that took at most so many milliseconds',
    ],
  },
  output_tokens: {
    column: 'output_tokens',
    type: 'int',
    bounds: [
      'results with at least so many tokens of output',
      'results with at most so many tokens of output',
    ],
  },
  cost: {
    column: 'cost',
    type: 'float8',
    bounds: ['results that cost at least so much', 'results that cost at most so much'],
  },
} as const;

export type ResultRange = keyof typeof RESULT_RANGES;

/** Bounds of the numbers of results, inclusive. */
export type ResultBounds = {
  readonly [Name in `${'min' | 'max'}_${ResultRange}`]?: number | undefined;
};

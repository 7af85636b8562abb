import type { Field, FieldText, FieldValue } from './field.ts';

/** A field of a run. */
export interface RunField extends Field {
  /** The member of the run that has it; the run itself without one. */
  readonly group?: RunGroup;
  /** Whether the manifest of a package has it. */
  readonly isPackaged?: boolean;
  /** Whether only the service knows it: the API does not have it. */
  readonly isInternal?: boolean;
  /** Whether the store computes it from other columns. */
  readonly isDerived?: boolean;
  /** Bytes of the longest text that is read. */
  readonly maxBytes?: number;
}

type RunGroup = 'counts' | 'scores' | 'usage';

/**
 * The fields of a run. Insert, select, the manifests of packages and the API follow from this list: for another field,
 * add it here and to `runs`, and set it.
 */
export const RUN_FIELDS = {
  /** An imported run gets a new one. */
  id: { wire: 'id', kind: 'uuid', isRequired: true, isPackaged: true },
  datasetId: { wire: 'dataset_id', kind: 'uuid', isRequired: true },
  datasetVersion: {
    wire: 'dataset_version',
    kind: 'integer',
    isRequired: true,
    minimum: 1,
    description: 'version of the dataset whose items it runs',
  },
  datasetVersionHash: { wire: 'dataset_version_hash', kind: 'digest', isRequired: true, isPackaged: true },
  name: { wire: 'name', kind: 'title', isPackaged: true },
  labels: { wire: 'labels', kind: 'names', isRequired: true, description: 'short words to find it by' },
  note: { wire: 'note', kind: 'text', description: 'what people say about it' },
  status: {
    wire: 'status',
    kind: 'word',
    isRequired: true,
    values: ['queued', 'waiting', 'running', 'completed', 'failed', 'cancelling', 'cancelled', 'stopped'],
    isPackaged: true,
  },
  /** Without secrets. Read up to more than a request may have. */
  config: { wire: 'config', kind: 'object', isRequired: true, maxBytes: 16_777_216 },
  /** How often each item is run. */
  repetitions: { wire: 'repetitions', kind: 'integer', isRequired: true, isInternal: true },

  total: { wire: 'total', kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  done: { wire: 'done', kind: 'integer', isRequired: true, minimum: 0, group: 'counts', isDerived: true },
  ok: { wire: 'ok', kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  failed: { wire: 'failed', kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  unscored: { wire: 'unscored', kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  truncated: {
    wire: 'truncated',
    kind: 'integer',
    isRequired: true,
    minimum: 0,
    description: 'results whose output was cut at the token limit',
    group: 'counts',
  },
  reused: {
    wire: 'reused',
    kind: 'integer',
    isRequired: true,
    minimum: 0,
    description: 'results whose output an earlier run has paid for',
    group: 'counts',
  },

  /** Null until there is a score. */
  mean: { wire: 'mean', kind: 'number', group: 'scores', isDerived: true },
  passed: { wire: 'passed', kind: 'integer', isRequired: true, group: 'scores' },
  /** Scored results may have neither passed nor failed. */
  wrong: { wire: 'wrong', kind: 'integer', isRequired: true, group: 'scores' },
  /** Results with a score. */
  scored: { wire: 'scored', kind: 'integer', isRequired: true, group: 'scores' },
  /** Passed among those that have passed or failed, and failed requests. Null without one. */
  passRate: { wire: 'pass_rate', kind: 'number', group: 'scores', isDerived: true },
  /** Passed among those that have passed or failed; null until there is one. */
  passRateScored: { wire: 'pass_rate_scored', kind: 'number', group: 'scores', isDerived: true },

  /** The scores of the stored summary; null without a current one. */
  summaryScores: {
    wire: 'summary_scores',
    kind: 'object',
    isInternal: true,
    isDerived: true,
    maxBytes: 262_144,
  },
  summaryScorers: {
    wire: 'summary_scorers',
    kind: 'object',
    isInternal: true,
    isDerived: true,
    maxBytes: 262_144,
  },

  /** Tokens of all results. */
  inputTokens: { wire: 'input_tokens', kind: 'count', isRequired: true, group: 'usage' },
  outputTokens: { wire: 'output_tokens', kind: 'count', isRequired: true, group: 'usage' },
  judgeInputTokens: { wire: 'judge_input_tokens', kind: 'count', isRequired: true, group: 'usage' },
  judgeOutputTokens: { wire: 'judge_output_tokens', kind: 'count', isRequired: true, group: 'usage' },

  /** Null until the run ends. */
  runHash: {
    wire: 'run_hash',
    kind: 'digest',
    isPackaged: true,
    isDerived: true,
    description:
      'SHA-256 of items, configuration, bar and results; null until the run ends, and another one after every change',
  },
  /** Null for runs of other tools. */
  scoring: {
    wire: 'scoring',
    kind: 'name',
    isPackaged: true,
    description: 'version of the rules that its checkers score by',
  },
  /** Canonical text. */
  bar: {
    wire: 'bar',
    kind: 'object',
    maxBytes: 65_536,
    description: 'what the run must reach, as it was sealed before the first request; it never changes',
  },
  barHash: { wire: 'bar_hash', kind: 'digest', isPackaged: true, description: 'SHA-256 of the bar' },
  /** Null until the run ends. */
  verdict: {
    wire: 'verdict',
    kind: 'object',
    isDerived: true,
    maxBytes: 65_536,
    description: 'whether the run has met its bar; null until it ends',
  },

  error: { wire: 'error', kind: 'failure', isPackaged: true, maxBytes: 65_536 },
  /** The request that started it. */
  requestId: { wire: 'request_id', kind: 'text', isInternal: true, maxBytes: 16_384 },
  createdBy: {
    wire: 'created_by',
    kind: 'text',
    description: 'name of the key that started it, or imported it with a package; `anonymous` without keys',
  },
  createdAt: { wire: 'created_at', kind: 'time', isRequired: true },
  startedAt: { wire: 'started_at', kind: 'time', isPackaged: true },
  finishedAt: { wire: 'finished_at', kind: 'time', isPackaged: true },
  cancelRequestedAt: { wire: 'cancel_requested_at', kind: 'time' },
  imported: {
    wire: 'imported',
    kind: 'boolean',
    isRequired: true,
    description: 'whether the run came with a package',
  },
  /** The id of an imported run in its package. */
  originId: { wire: 'origin_id', kind: 'uuid', isInternal: true },
  /** What was promised before it started; null for runs of packages. */
  plan: {
    wire: 'plan',
    kind: 'object',
    description: 'what was promised before the start',
    maxBytes: 65_536,
  },
  /** An array of `{code, message}`; null as for `plan`. */
  warnings: { wire: 'warnings', kind: 'json', maxBytes: 65_536 },
  /** Whether it runs some of the items only. */
  hasSelection: { wire: 'has_selection', kind: 'boolean', isRequired: true, isInternal: true },
  /** Names of its scorers, in the order of their numbers in results; null without any. */
  scorerNames: { wire: 'scorer_names', kind: 'names', isInternal: true, maxBytes: 4_096 },
  /** Names of scorers that a worker adds to it; null without any. */
  addingScorers: {
    wire: 'adding_scorers',
    kind: 'names',
    isInternal: true,
    isDerived: true,
    maxBytes: 4_096,
  },
  /** Whether clients send its results. */
  isExternal: { wire: 'is_external', kind: 'boolean', isRequired: true, isInternal: true },
  sourceRunId: {
    wire: 'source_run_id',
    kind: 'uuid',
    description: 'the run whose outputs it scores again',
  },
  reusedRunId: {
    wire: 'reused_run_id',
    kind: 'uuid',
    description: 'the run whose outputs it takes where that asked the same',
  },
  /** Whether it only asks some items for one request, which deletes it. */
  isTrial: { wire: 'is_trial', kind: 'boolean', isRequired: true, isInternal: true },
  /** What its judges charged for its results. */
  judgeCost: { wire: 'judge_cost', kind: 'number', isRequired: true, isInternal: true },
  /** What its requests have cost so far, also for replaced results, in the currency of the price. */
  spent: { wire: 'spent', kind: 'number', isRequired: true, isInternal: true },
  retries: {
    wire: 'retries',
    kind: 'integer',
    isRequired: true,
    minimum: 0,
    description: 'how often it was retried',
  },
  /** `price` of the configuration, and of its first judge with one. */
  price: { wire: 'price', kind: 'object', isInternal: true, isDerived: true, maxBytes: 1_000 },
  judgePrice: { wire: 'judge_price', kind: 'object', isInternal: true, isDerived: true, maxBytes: 1_000 },
  /** Results that were ever written, and results that are still to be written. */
  resultsWritten: { wire: 'results_version', kind: 'count', isRequired: true, isInternal: true },
  resultsLeft: { wire: 'results_left', kind: 'count', isRequired: true, isInternal: true, isDerived: true },
} as const;

type Fields = typeof RUN_FIELDS;

/** The names of the fields. */
export type RunName = keyof Fields;

type NamesOf<Facts> = { [Name in RunName]: Fields[Name] extends Facts ? Name : never }[RunName];
type Texts<Names extends RunName> = { readonly [Name in Names]: FieldText<Fields[Name]> };

/** The fields that the store computes. */
export type DerivedRunName = NamesOf<{ readonly isDerived: true }>;

/** A run as it is stored, with its groups: JSON values are texts. */
export type RunTexts = Texts<Exclude<RunName, NamesOf<{ readonly group: RunGroup }>>> & {
  readonly [Group in RunGroup]: Texts<NamesOf<{ readonly group: Group }>>;
};

/** The columns of a run to insert; the others have their defaults. */
export type RunColumns = {
  readonly [Name in Exclude<RunName, DerivedRunName>]?: FieldText<Fields[Name]> | undefined;
};

/** What the manifest of a package states of its run; null if it does not. */
export type PackagedRun = {
  readonly [Name in NamesOf<{ readonly isPackaged: true }>]: Name extends 'status'
    ? 'completed' | 'failed' | 'cancelled' | 'stopped'
    : FieldValue<Fields[Name]> | null;
};

/** Names of the members of the manifest. */
export type PackagedRunMember = Fields[keyof PackagedRun]['wire'];

/** The fields, each with its name. */
export const RUN_FIELD_LIST: readonly (RunField & { readonly name: RunName })[] = Object.entries(
  RUN_FIELDS,
).map(([name, field]) => ({ ...field, name: name as RunName }));

/** The fields that the manifest of a package has. */
export const PACKAGED_RUN_FIELDS: readonly (RunField & {
  readonly name: keyof PackagedRun;
  readonly wire: PackagedRunMember;
})[] = RUN_FIELD_LIST.filter(({ isPackaged = false }) => isPackaged) as never;

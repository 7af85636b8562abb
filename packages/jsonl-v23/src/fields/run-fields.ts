import { type Field, type FieldText, type FieldValue, type NamedFields, nameFields } from './field.ts';

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

const FIELDS = {
  /** An imported run gets a new one. */
  id: { kind: 'uuid', isRequired: true, isPackaged: true },
  datasetId: { kind: 'uuid', isRequired: true },
  datasetVersion: {
    kind: 'integer',
    isRequired: true,
    minimum: 1,
    description: 'version of the dataset whose items it runs',
  },
  datasetVersionHash: { kind: 'digest', isRequired: true, isPackaged: true },
  name: { kind: 'title', isPackaged: true },
  labels: { kind: 'names', isRequired: true, description: 'short words to find it by' },
  note: { kind: 'text', description: 'what people say about it' },
  status: {
    kind: 'word',
    isRequired: true,
    values: ['queued', 'waiting', 'running', 'completed', 'failed', 'cancelling', 'cancelled', 'stopped'],
    isPackaged: true,
  },
  /** Without secrets. Read up to more than a request may have. */
  config: { kind: 'object', isRequired: true, maxBytes: 16_777_216 },
  repetitions: { kind: 'integer', isRequired: true, isInternal: true },

  total: { kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  done: { kind: 'integer', isRequired: true, minimum: 0, group: 'counts', isDerived: true },
  ok: { kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  failed: { kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  unscored: { kind: 'integer', isRequired: true, minimum: 0, group: 'counts' },
  truncated: {
    kind: 'integer',
    isRequired: true,
    minimum: 0,
    description: 'results whose output was cut at the token limit',
    group: 'counts',
  },
  reused: {
    kind: 'integer',
    isRequired: true,
    minimum: 0,
    description: 'results whose output an earlier run has paid for',
    group: 'counts',
  },

  /** Null until there is a score. */
  mean: { kind: 'number', group: 'scores', isDerived: true },
  passed: { kind: 'integer', isRequired: true, group: 'scores' },
  /** Scored results may have neither passed nor failed. */
  wrong: { kind: 'integer', isRequired: true, group: 'scores' },
  scored: { kind: 'integer', isRequired: true, group: 'scores' },
  /** Passed among those that have passed or failed, and failed requests. Null without one. */
  passRate: { kind: 'number', group: 'scores', isDerived: true },
  /** Passed among those that have passed or failed; null until there is one. */
  passRateScored: { kind: 'number', group: 'scores', isDerived: true },

  /** The scores of the stored summary; null without a current one. */
  summaryScores: { kind: 'object', isInternal: true, isDerived: true, maxBytes: 262_144 },
  summaryScorers: { kind: 'object', isInternal: true, isDerived: true, maxBytes: 262_144 },

  inputTokens: { kind: 'count', isRequired: true, group: 'usage' },
  outputTokens: { kind: 'count', isRequired: true, group: 'usage' },
  judgeInputTokens: { kind: 'count', isRequired: true, group: 'usage' },
  judgeOutputTokens: { kind: 'count', isRequired: true, group: 'usage' },

  /** Null until the run ends. */
  runHash: {
    kind: 'digest',
    isPackaged: true,
    isDerived: true,
    description:
      'SHA-256 of items, configuration, bar and results; null until the run ends, and another one after every change',
  },
  /** Null for runs of other tools. */
  scoring: { kind: 'name', isPackaged: true, description: 'version of the rules that its checkers score by' },
  /** Canonical text. */
  bar: {
    kind: 'object',
    maxBytes: 65_536,
    description: 'what the run must reach, as it was sealed before the first request; it never changes',
  },
  barHash: { kind: 'digest', isPackaged: true, description: 'SHA-256 of the bar' },
  /** Null until the run ends. */
  verdict: {
    kind: 'object',
    isDerived: true,
    maxBytes: 65_536,
    description: 'whether the run has met its bar; null until it ends',
  },

  error: { kind: 'failure', isPackaged: true, maxBytes: 65_536 },
  requestId: { kind: 'text', isInternal: true, maxBytes: 16_384 },
  createdBy: {
    kind: 'text',
    description: 'name of the key that started it, or imported it with a package; `anonymous` without keys',
  },
  createdAt: { kind: 'time', isRequired: true },
  startedAt: { kind: 'time', isPackaged: true },
  finishedAt: { kind: 'time', isPackaged: true },
  cancelRequestedAt: { kind: 'time' },
  imported: { kind: 'boolean', isRequired: true, description: 'whether the run came with a package' },
  /** The id of an imported run in its package. */
  originId: { kind: 'uuid', isInternal: true },
  /** What was promised before it started; null for runs of packages. */
  plan: { kind: 'object', description: 'what was promised before the start', maxBytes: 65_536 },
  /** An array of `{code, message}`; null as for `plan`. */
  warnings: { kind: 'json', maxBytes: 65_536 },
  /** Whether it runs some of the items only. */
  hasSelection: { kind: 'boolean', isRequired: true, isInternal: true },
  /** Names of its scorers, in the order of their numbers in results; null without any. */
  scorerNames: { kind: 'names', isInternal: true, maxBytes: 4_096 },
  /** Names of scorers that a worker adds to it; null without any. */
  addingScorers: { kind: 'names', isInternal: true, isDerived: true, maxBytes: 4_096 },
  /** Whether clients send its results. */
  isExternal: { kind: 'boolean', isRequired: true, isInternal: true },
  sourceRunId: { kind: 'uuid', description: 'the run whose outputs it scores again' },
  reusedRunId: { kind: 'uuid', description: 'the run whose outputs it takes where that asked the same' },
  /** Whether it only asks some items for one request, which deletes it. */
  isTrial: { kind: 'boolean', isRequired: true, isInternal: true },
  judgeCost: { kind: 'number', isRequired: true, isInternal: true },
  /** What its requests have cost so far, also for replaced results, in the currency of the price. */
  spent: { kind: 'number', isRequired: true, isInternal: true },
  retries: { kind: 'integer', isRequired: true, minimum: 0, description: 'how often it was retried' },
  /** `price` of the configuration, and of its first judge with one. */
  price: { kind: 'object', isInternal: true, isDerived: true, maxBytes: 1_000 },
  judgePrice: { kind: 'object', isInternal: true, isDerived: true, maxBytes: 1_000 },
  /** Results that were ever written, and results that are still to be written. */
  resultsVersion: { kind: 'count', isRequired: true, isInternal: true },
  resultsLeft: { kind: 'count', isRequired: true, isInternal: true, isDerived: true },
} as const;

/** The fields of a run, which all layers follow: for another field, add it here and to `runs`, and set it. */
export const RUN_FIELDS: NamedFields<typeof FIELDS> = nameFields(FIELDS);

type Fields = typeof RUN_FIELDS;

export type RunName = keyof Fields;

type NamesOf<Facts> = { [Name in RunName]: Fields[Name] extends Facts ? Name : never }[RunName];
type Texts<Names extends RunName> = { readonly [Name in Names]: FieldText<Fields[Name]> };

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

export type PackagedRunMember = Fields[keyof PackagedRun]['wire'];

export const RUN_FIELD_LIST: readonly (RunField & { readonly name: RunName })[] = Object.values(RUN_FIELDS);

export const PACKAGED_RUN_FIELDS: readonly (RunField & {
  readonly name: keyof PackagedRun;
  readonly wire: PackagedRunMember;
})[] = RUN_FIELD_LIST.filter(({ isPackaged = false }) => isPackaged) as never;

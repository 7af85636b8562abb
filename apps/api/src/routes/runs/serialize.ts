import { PUBLIC_RESULT_FIELDS, RUN_FIELD_LIST, RUN_FIELDS } from '@svc/jsonl-v23/runs';
import { type JsonBody, JsonText, orNull, type Schema, shape } from '@svc/service';
import {
  BAR_SCHEMA,
  BAR_VERDICT_SCHEMA,
  RUN_CONFIG_SCHEMA,
  readPrices,
  runCost,
  UNSCORABLE_REASONS,
} from '@svc/service/evaluation';
import type { ResultWithItem, Run, RunSummary } from '@svc/service/store';
import { linkedItemText } from '../datasets/items.ts';
import { COUNT, fieldBody, fieldSchema, TEXT } from '../docs/schemas.ts';
import { ITEM_TOO_LARGE } from '../page.ts';
import { COST, LABEL, LATENCY, RESULT_LABELS, RUN_SCORERS, RUN_SCORES } from './score-schemas.ts';

export const PLAN: Schema = shape({
  items: COUNT,
  requests: {
    ...COUNT,
    description: 'requests to the model and the judge, without retries and reused outputs',
  },
  reused: { ...COUNT, description: 'requests to the model that an earlier run has already made' },
  estimate: orNull(
    shape({ input_tokens: COUNT, output_tokens: { type: ['integer', 'null'], minimum: 0 }, cost: COST }),
    'estimate for the requests to the model, from 20 items; null without requests',
  ),
  scorable: COUNT,
  unscorable: COUNT,
  unscorable_reasons: {
    type: 'object',
    additionalProperties: COUNT,
    description: `items by reason: ${Object.keys(UNSCORABLE_REASONS).join(', ')}`,
  },
});
const WARNINGS: Schema = {
  type: 'array',
  items: shape({ code: TEXT, message: TEXT }),
};

/** A configuration that was checked, or one that came with a package, where any member may be absent. */
export const STORED_CONFIG: Schema = {
  ...RUN_CONFIG_SCHEMA,
  required: [],
  additionalProperties: true,
  description:
    'the configuration with all defaults and without secrets; for an imported run, as in the package',
};

export const PLANNED: Schema = shape({ plan: PLAN, warnings: WARNINGS });

const STATS: Readonly<Record<string, Schema>> = {
  latency_ms: LATENCY,
  finish_reasons: {
    type: 'object',
    additionalProperties: COUNT,
    description: 'results by finish reason; only for one run',
  },
};

export const RUN: Schema = shape(
  {
    ...runMembers(fieldSchema, shape),
    ...{
      config: STORED_CONFIG,
      scores: RUN_SCORES,
      scorers: RUN_SCORERS,
      plan: orNull(PLAN, RUN_FIELDS.plan.description),
    },
    ...{
      bar: orNull(BAR_SCHEMA, RUN_FIELDS.bar.description),
      verdict: orNull(BAR_VERDICT_SCHEMA, RUN_FIELDS.verdict.description),
    },
    ...{ warnings: WARNINGS, cost: COST, ...STATS },
  },
  Object.keys(STATS),
);

const ITEM: Schema = { type: ['object', 'null'], description: 'only with `include=item`' };

export const RUN_RESULT: Schema = shape(
  {
    ...Object.fromEntries(PUBLIC_RESULT_FIELDS.map((field) => [field.wire, fieldSchema(field)])),
    labels: RESULT_LABELS,
    item: ITEM,
  },
  ['item'],
);

/** The members of a result in a blind sample: no scores, and only the caller's labels. */
const BLIND_NAMES: ReadonlySet<string> = new Set([
  ...['section', 'order_index', 'item_id', 'repetition', 'output', 'reasoning', 'item_hash'],
]);

/** A run as JSON. @param summary of its results, for one run; lists do without */
export function serializeRun(run: Run, summary: RunSummary | null = null): Record<string, JsonBody> {
  const members = runMembers<JsonBody>(
    (field) => fieldBody(field, (field.group === undefined ? run : run[field.group])[field.name as never]),
    (group) => group,
  );
  return {
    ...members,
    ...{
      scores: scoresOf(run, summary),
      scorers: scorersOf(run, summary),
      warnings: members['warnings'] ?? [],
      cost: costOf(run),
    },
    ...(summary && { latency_ms: summary.latency_ms, finish_reasons: { ...summary.finish_reasons } }),
  };
}

/** The members of a run as the API has it: one for each field, and one for each group of fields. */
function runMembers<T>(
  memberOf: (field: (typeof RUN_FIELD_LIST)[number]) => T,
  groupOf: (members: Readonly<Record<string, T>>) => T,
): Record<string, T> {
  const fields = RUN_FIELD_LIST.filter(({ isInternal = false }) => !isInternal);
  const entriesOf = (of: typeof fields): Record<string, T> =>
    Object.fromEntries(of.map((field) => [field.wire, memberOf(field)]));
  return Object.fromEntries(
    [...Map.groupBy(fields, ({ group, wire }) => group ?? wire)].map(([name, of]) => [
      name,
      of[0]?.group === undefined ? (entriesOf(of)[name] as T) : groupOf(entriesOf(of)),
    ]),
  );
}

/**
 * @param run whose items are shown too, with links to their files; null without items
 * @param blindFor name of the caller, of whose labels alone a blind sample tells
 */
export function serializeResult(
  result: ResultWithItem,
  run: Pick<Run, 'datasetId' | 'datasetVersion'> | null,
  blindFor?: string,
): JsonBody {
  const members: Record<string, JsonBody> = {};
  for (const field of PUBLIC_RESULT_FIELDS) {
    if (blindFor !== undefined && !BLIND_NAMES.has(field.wire)) continue;
    members[field.wire] = fieldBody(field, result[field.name]);
  }
  const labels = result.labels.filter(({ by }) => blindFor === undefined || by === blindFor);
  members['labels'] = labels.map(LABEL.toBody);
  if (result.isTooLarge) members['error'] = ITEM_TOO_LARGE;
  if (run !== null) members['item'] = itemText(result.item, run);
  return members;
}

function itemText(
  item: ResultWithItem['item'],
  { datasetId, datasetVersion }: Pick<Run, 'datasetId' | 'datasetVersion'>,
): JsonText | null {
  if (item == null || item.payload === null) return null;
  return new JsonText(linkedItemText({ ...item, payload: item.payload }, datasetId, datasetVersion));
}

/** The scores of a run; without a summary, the stored scores, or what its counts give. */
function scoresOf({ scores, counts, summaryScores }: Run, summary: RunSummary | null): JsonBody {
  if (summary !== null) return { ...summary.scores, ...summary.parts } as unknown as JsonBody;
  if (summaryScores !== null) return new JsonText(summaryScores);
  const { mean, passed, wrong, passRate, passRateScored } = scores;
  return {
    mean,
    stderr: null,
    ci95: null,
    passed,
    wrong,
    no_output: counts.failed,
    pass_rate: passRate,
    pass_rate_ci95: null,
    pass_rate_scored: passRateScored,
    pass_rate_scored_ci95: null,
    results: counts.done,
    ok: counts.ok,
    failed: counts.failed,
    unscored: counts.unscored,
    warnings: [],
  };
}

function scorersOf({ summaryScorers }: Run, summary: RunSummary | null): JsonBody {
  if (summary !== null) return { ...summary.scorers } as unknown as JsonBody;
  return summaryScorers === null ? {} : new JsonText(summaryScorers);
}

function costOf({ price, judgePrice, usage, judgeCost }: Run): { amount: number; currency: string } | null {
  return runCost(readPrices(price, judgePrice), { ...usage, judgeCost });
}

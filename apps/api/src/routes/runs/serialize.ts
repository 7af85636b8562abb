import { RUN_CONFIG_SCHEMA } from '@svc/evaluation';
import { PUBLIC_RESULT_FIELDS } from '@svc/jsonl-v23/internal';
import { type JsonBody, JsonText, orNull, type Schema, shape } from '@svc/runtime';
import type { ResultWithItem, Run, RunSummary } from '@svc/store';
import { linkedItemText } from '../datasets/linked-item.ts';
import { fieldBody, fieldSchema } from '../docs/fields.ts';
import { ITEM_TOO_LARGE } from '../page.ts';
import { costOf, scoresOf, usageOf } from './run-numbers.ts';
import { COST, LATENCY, RUN_SCORES, USAGE } from './score-schemas.ts';

const COUNT: Schema = { type: 'integer', minimum: 0 };
const UUID: Schema = { type: 'string', format: 'uuid' };
const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
const TIME_OR_NULL: Schema = { type: ['string', 'null'], format: 'date-time' };
const FAILURE: Schema = {
  type: ['object', 'null'],
  properties: { code: { type: 'string' }, message: { type: 'string' } },
};

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelling', 'cancelled'] as const;
export const RESULT_STATUSES = ['ok', 'failed', 'unscored'] as const;

export const PLAN: Schema = shape({
  items: COUNT,
  requests: { ...COUNT, description: 'requests to the model and the judge, without retries' },
  scorable: COUNT,
  unscorable: COUNT,
  unscorable_reasons: { type: 'object', additionalProperties: COUNT, description: 'items by reason' },
});
const WARNINGS: Schema = {
  type: 'array',
  items: shape({ code: { type: 'string' }, message: { type: 'string' } }),
};

/** A configuration that was checked, or one that came with a package, where any member may be absent. */
export const STORED_CONFIG: Schema = {
  ...RUN_CONFIG_SCHEMA,
  required: [],
  additionalProperties: true,
  description: 'with every default filled in, without any secret; of an imported run, as the package has it',
};

/** The answer to a dry run. */
export const PLANNED: Schema = shape({ plan: PLAN, warnings: WARNINGS });

export const RUN: Schema = shape(
  {
    id: UUID,
    dataset_id: UUID,
    dataset_version_hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    name: TEXT_OR_NULL,
    status: { type: 'string', enum: RUN_STATUSES },
    config: STORED_CONFIG,
    counts: shape({
      ...{ total: COUNT, done: COUNT, ok: COUNT, failed: COUNT, unscored: COUNT },
      truncated: { ...COUNT, description: 'results whose output was cut at the token limit' },
    }),
    scores: RUN_SCORES,
    usage: USAGE,
    cost: COST,
    latency_ms: LATENCY,
    finish_reasons: {
      type: 'object',
      additionalProperties: COUNT,
      description: 'results by finish reason; only for one run',
    },
    error: FAILURE,
    created_at: { type: 'string', format: 'date-time' },
    started_at: TIME_OR_NULL,
    finished_at: TIME_OR_NULL,
    cancel_requested_at: TIME_OR_NULL,
    imported: { type: 'boolean', description: 'whether the run came with a package' },
    plan: orNull(PLAN, 'what was promised before the start'),
    warnings: WARNINGS,
    source_run_id: {
      ...UUID,
      type: ['string', 'null'],
      description: 'the run whose outputs it scores again',
    },
    retries: { ...COUNT, description: 'how often it was retried' },
  },
  ['latency_ms', 'finish_reasons'],
);

export const RUN_RESULT: Schema = shape(
  {
    ...Object.fromEntries(PUBLIC_RESULT_FIELDS.map((field) => [field.wire, fieldSchema(field)])),
    item: { type: ['object', 'null'], description: 'only with `include=item`' },
  },
  ['item'],
);

/** A run as JSON. @param summary of its results, for one run; lists do without */
export function serializeRun(run: Run, summary: RunSummary | null = null): Record<string, JsonBody> {
  return {
    id: run.id,
    dataset_id: run.datasetId,
    dataset_version_hash: run.datasetVersionHash,
    name: run.name,
    status: run.status,
    config: new JsonText(run.config),
    counts: { ...run.counts, truncated: run.truncated },
    scores: scoresOf(run, summary),
    usage: usageOf(run),
    cost: costOf(run),
    ...(summary === null
      ? {}
      : { latency_ms: summary.latency_ms, finish_reasons: { ...summary.finish_reasons } }),
    error: textOrNull(run.error),
    created_at: run.createdAt,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    cancel_requested_at: run.cancelRequestedAt,
    imported: run.imported,
    plan: textOrNull(run.plan),
    warnings: new JsonText(run.warnings ?? '[]'),
    source_run_id: run.sourceRunId,
    retries: run.retries,
  };
}

/** Whether a run has finished. */
export function isFinished(run: Run): boolean {
  return run.finishedAt !== null;
}

/** A result of a run as JSON, with links to the files of its item. */
export function serializeResult(result: ResultWithItem, datasetId: string): JsonBody {
  const members: Record<string, JsonBody> = {};
  for (const field of PUBLIC_RESULT_FIELDS) members[field.wire] = fieldBody(field, result[field.name]);
  if (result.isTooLarge) members['error'] = ITEM_TOO_LARGE;
  if (result.item !== undefined) members['item'] = itemText(result.item, datasetId);
  return members;
}

/** The item of a result; null where it is too large. */
function itemText(item: ResultWithItem['item'], datasetId: string): JsonText | null {
  if (item == null || item.payload === null) return null;
  return new JsonText(linkedItemText({ ...item, payload: item.payload }, datasetId));
}

/** Stored JSON text is sent as it is. */
function textOrNull(text: string | null): JsonText | null {
  return text === null ? null : new JsonText(text);
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import {
  type CheckRunner,
  markFiles,
  modelOf,
  prepareItem,
  promptsOf,
  type RunConfig,
  RunError,
  type RunFailure,
  type RunItem,
  requestText,
} from '../evaluation/index.ts';
import {
  type NewRun,
  type Run,
  readStoredJson,
  type Store,
  type StoredResult,
  StoreError,
} from '../store/index.ts';
import { sampleOf } from './plan-run.ts';

export interface TryRunRequest extends Pick<NewRun, 'datasetId' | 'requestId' | 'createdBy'> {
  readonly version: number;
  readonly config: RunConfig;
  readonly count: number;
  readonly signal: AbortSignal;
}

export interface TryRunDeps {
  readonly store: Pick<Store, 'runs'>;
  readonly checks: Pick<CheckRunner, 'run'>;
}

export interface TriedItem {
  readonly item: RunItem;
  readonly itemId: JsonValue;
  /** JSON text of the request's body, with links in place of files; null if no model is asked, or the item cannot be sent. */
  readonly request: string | null;
  /** Null without an answer in time, or for an error of the run, which is in `failure`. */
  readonly result: StoredResult | null;
  readonly failure: RunFailure | null;
}

const MAX_WAIT_MS = 90_000;
const POLL_MS = 150;

/**
 * Asks some items of a dataset: sample → hidden run of these items, all concurrently → its results with their requests.
 * Workers ask, since only they have keys. Nothing stays: the run is deleted with its results, also if the caller
 * leaves.
 *
 * @throws StoreError `unavailable` if no worker takes the run in time; RunError `invalid_request` for a run that makes
 *   no requests
 */
export async function tryRun({ store, checks }: TryRunDeps, request: TryRunRequest): Promise<TriedItem[]> {
  const { datasetId, version, config, count, signal } = request;
  if (config.provider.type === 'external') {
    throw new RunError('invalid_request', 'Cannot try the run: its results come from clients.');
  }
  const selection = sampleOf(config.select, count);
  const sample = await store.runs.sample({ datasetId, version, selection, signal });
  const { reuse: _, ...asked } = config;
  const tried = {
    ...asked,
    ...{ select: selection, repetitions: 1, concurrency: count },
    timeout_ms: Math.min(config.timeout_ms, MAX_WAIT_MS),
  };
  const { id } = await store.runs.create({
    ...{ id: randomUUID(), datasetId, version, repetitions: 1, isTrial: true },
    ...{ config: canonicalJson(tried as unknown as JsonObject), selection },
    ...{ requestId: request.requestId, createdBy: request.createdBy },
  });
  try {
    const run = await ended(store, id, signal);
    const { data, release } = await store.runs.listResults(id, { limit: count, signal });
    try {
      const urlOf = linkOf(datasetId, version);
      const results = new Map(data.map((result) => [keyOf(result), result]));
      return await Promise.all(
        sample.map(async (item): Promise<TriedItem> => {
          const result = results.get(keyOf(item)) ?? null;
          const failure = result === null ? failureOf(run) : null;
          return { item, ...(await requestOf(item, urlOf, config, checks, signal)), result, failure };
        }),
      );
    } finally {
      release();
    }
  } finally {
    await store.runs.deleteTrial(id);
  }
}

const keyOf = (at: { readonly sectionOrderIndex: number; readonly orderIndex: number }): string =>
  `${at.sectionOrderIndex} ${at.orderIndex}`;

async function ended(store: Pick<Store, 'runs'>, id: string, signal: AbortSignal): Promise<Run> {
  const deadlineMs = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const run = await store.runs.get(id);
    if (run.finishedAt !== null) return run;
    if (performance.now() > deadlineMs) {
      if (run.status !== 'queued') return run;
      throw new StoreError('unavailable', 'Cannot try the run: no worker has taken it.');
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function failureOf(run: Run): RunFailure {
  if (run.error !== null) return readStoredJson(run.error) as unknown as RunFailure;
  return { code: 'provider_timeout', message: `No answer came within ${MAX_WAIT_MS / 1000} s.` };
}

async function requestOf(
  item: RunItem,
  urlOf: ReturnType<typeof linkOf>,
  config: RunConfig,
  checks: Pick<CheckRunner, 'run'>,
  signal: AbortSignal,
): Promise<Pick<TriedItem, 'itemId' | 'request'>> {
  const asked = modelOf(config);
  if (item.parts === null) return { itemId: null, request: null };
  const wireFormat = asked?.wireFormat ?? 'chat_completions';
  const { parts, files } = markFiles(item.parts, item.linkedFiles);
  const deps = { provider: { usesMessages: true, wireFormat }, checks };
  const prepared = await prepareItem(deps, parts, files, promptsOf(config), signal);
  const { itemId } = prepared;
  if (asked === null || !('request' in prepared.asked)) return { itemId, request: null };
  return { itemId, request: requestText(asked.model, prepared.asked.request, wireFormat, urlOf) };
}

/** What makes the link to a file of an item. @param version of the dataset that links name; undefined for none */
export function linkOf(datasetId: string, version: number | undefined) {
  const query = version === undefined ? '' : `?version=${version}`;
  return ({ sha256 }: { readonly sha256: string }) => `/datasets/${datasetId}/assets/${sha256}${query}`;
}

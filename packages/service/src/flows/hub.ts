import {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  HubError,
  hubSchema,
  type RequestEvent,
  type RetryEvent,
  type SplitReader,
} from '@svc/hub-client';
import { JsonlError } from '@svc/jsonl-v23';
import type { UnreadRow } from '@svc/jsonl-v23/imports';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { Mapping } from '@svc/jsonl-v23/mapping';
import { collectRows, type PreviewRows, planMapping, planPreview } from '@svc/tabular/datasets';
import type { SectionWriter, TableRows } from '../store/index.ts';
import type { Logger } from '../telemetry/create-logger.ts';
import type { Metrics } from '../telemetry/create-metrics.ts';
import type { Label } from '../telemetry/events.ts';
import { type ImportSource, skippedRows } from './import-dataset.ts';
import type { HubSource, ImportRequest } from './requests.ts';

export interface Preview
  extends PreviewRows,
    Pick<SplitReader, 'features' | 'numRows' | 'info' | 'subset' | 'split' | 'splits'> {
  readonly resolvedRevision: string;
}

/** Size of the warning about NaN and infinity, as JSON text. */
const WARNING_BYTES = 128;

/** Previews are interactive: fewer retries, shorter budget, and time for another attempt if the hub does not respond. */
const PREVIEW_RETRY_POLICY = {
  budgetMs: 30_000,
  headersTimeoutMs: 10_000,
  retry: { maxRetries: 2, baseDelayMs: 250 },
} as const;

/**
 * Opens a slice of a hub dataset for a preview. Nothing is stored.
 *
 * @throws HubError; JsonlError, ImportErrors as `planMapping`
 */
export async function openPreview(
  hub: Pick<HubClient, 'openDataset'>,
  { path, revision, token, subset, split }: HubSource,
  mapping: Mapping | null,
  signal: AbortSignal,
) {
  const dataset = await hub.openDataset({ path, revision, token, signal, ...PREVIEW_RETRY_POLICY });
  const textColumns = new Set(Object.keys(mapping?.types ?? {}));
  const reader = await dataset.select({ subset, split, signal, textColumns });
  const { numRows, splits, specifiedMapping = null } = reader;
  const { columns, features, warnings } = planPreview(reader.features, mapping, reader);
  const infoWith = (more: readonly string[]): JsonObject => {
    const before = reader.info['warnings'];
    const all = [...(Array.isArray(before) ? before : []), ...warnings, ...more];
    return all.length === 0 ? reader.info : { ...reader.info, warnings: all };
  };
  const { resolvedRevision } = dataset;
  return {
    head: {
      ...{ features, numRows, splits, resolvedRevision },
      info: infoWith([]),
      subset: reader.subset,
      split: reader.split,
    },
    /**
     * Reads the first rows, which may add warnings to the head's `info`.
     *
     * @param maxBytes that samples, truncated cells and new warnings may take as JSON text
     */
    async readSamples(limit: number, maxBytes: number) {
      const names = columns.map(({ name }) => name);
      const batches = reader.rowBatches({ limit, signal, columns: names });
      const options = { mapping, specified: specifiedMapping, maxBytes: maxBytes - WARNING_BYTES };
      const rows = await collectRows(batches, columns, options);
      return { ...rows, info: infoWith(mapping === null ? (rows.suggestion?.warnings ?? []) : []) };
    },
  };
}

interface HubOptions extends Pick<HubClientOptions, 'endpoint' | 'token' | 'cacheDir' | 'cacheMaxBytes'> {
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Opens a hub client that logs and counts its requests. The caller closes it. */
export function openHub({ logger, metrics, version, ...options }: HubOptions): HubClient {
  return createHubClient({
    ...options,
    userAgent: `svc/${version}`,
    onRequest: (event) => {
      const outcome = outcomeOf(event);
      metrics.recordHubRequest({ outcome, durationMs: event.durationMs });
      logger.log('hub.request', {
        method: event.method,
        host: event.host,
        kind: event.kind,
        status_code: event.status,
        outcome,
        bytes: event.bytes,
        duration_ms: Math.round(event.durationMs),
        hub_request_id: event.hubRequestId,
      });
    },
    onRetry: (event: RetryEvent) => {
      logger.log('hub.retry', {
        host: event.host,
        kind: event.kind,
        status_code: event.status,
        code: event.code,
        reason: event.reason,
        attempt: event.failures,
        delay_ms: Math.round(event.delayMs),
      });
    },
  });
}

function outcomeOf({ outcome, status }: RequestEvent): Label<'hubOutcome'> {
  if (outcome === 'ok' || outcome === 'redirect' || outcome === 'aborted') return outcome;
  if (status === null) return 'connection_error';
  if (status === 404) return 'not_found';
  if (status === 401 || status === 403) return 'denied';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'bad_response';
}

/** The name of the section of a hub import that is not one for each subset. */
const SECTION_NAME = 'default';

/**
 * A slice of a hub dataset: rows → items by the mapping, while the next rows download. The mapping is checked before the
 * first row. `write` throws HubError; JsonlError, or ImportErrors for several columns, `column_not_found`.
 */
export function hubSource(
  hub: Pick<HubClient, 'openDataset'>,
  request: ImportRequest,
  { maxItemBytes }: { readonly maxItemBytes: number },
): ImportSource {
  const { config, mapping, mappingAsSent, token, name, description } = request;
  const { path, revision, subset, subsets, split } = config;
  return {
    start: { source: 'hub', path, split, subset, revision },
    toError: (fault) => fault,
    async write(draft, report, signal) {
      const dataset = await hub.openDataset({ path, revision, token, signal });
      const textColumns = new Set(Object.keys(mapping.types ?? {}));
      const selection = { split, signal, textColumns, skipsInvalid: true };
      try {
        const parts = subsets === undefined ? [subset] : dataset.subsets;
        let slice: { readonly reader: SplitReader; readonly resolvedRevision: string } | undefined;
        let section: SectionWriter | undefined;
        for (const part of parts) {
          const reader = await dataset.select({ ...selection, subset: part });
          const tagged = subsets === 'tags' ? { tags: [...(mapping.tags ?? []), reader.subset] } : {};
          const wanted = { ...mapping, ...tagged };
          const { columns, unused, ...planned } = planMapping(wanted, reader.features, reader);
          for (const column of unused) report.unusedColumns.add(column);
          const options = { itemsTotal: reader.numRows, isNamed: subsets === 'sections', read: dataset };
          if (subsets === 'sections' || section === undefined)
            section = draft.section(subsets === 'sections' ? reader.subset : SECTION_NAME, options);
          // Rows of several subsets in one section have ids of their own.
          const prefix = subsets === 'tags' ? `${reader.subset}-` : '';
          await section.writeRows(rowsOf(reader, columns, prefix, signal), { ...planned, maxItemBytes });
          slice ??= { reader, resolvedRevision: dataset.resolvedRevision };
        }
        if (slice === undefined) throw new HubError('hub_unsupported_dataset', 'The dataset has no subset.');
        const facts = { mapping: mappingAsSent, skipped: skippedRows(report) };
        const schema = canonicalJson(hubSchema(config, slice, facts));
        return { dataset: { name, description, notes: null, source: 'hub', schema } };
      } catch (error) {
        if (!(error instanceof HubError && error.code === 'invalid_row')) throw error;
        // After this row, the file cannot be read.
        report.faults.addError(
          new JsonlError('invalid_row', error.message, error.location, { cause: error }),
        );
        return null;
      }
    },
  };
}

async function* rowsOf(
  reader: Pick<SplitReader, 'rowBatches'>,
  columns: readonly string[],
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<TableRows> {
  for await (const batch of reader.rowBatches({ columns, signal })) {
    const [first] = batch;
    if (first === undefined) continue;
    const invalid = new Map<number, UnreadRow>();
    for (const [at, { unread }] of batch.entries()) if (unread !== undefined) invalid.set(at, unread);
    yield {
      firstRow: first.rowIndex,
      split: prefix + first.split,
      rows: batch.map(({ row }) => row),
      invalid,
    };
  }
}

import type { HubClient, SplitReader } from '@svc/hub-client';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { Mapping } from '@svc/jsonl-v23/mapping';
import {
  mappingWarnings,
  type PreviewRows,
  planMapping,
  RowsCollector,
  shownColumns,
  typedColumns,
  withTypes,
  withWarnings,
} from '@svc/tabular/internal';
import type { HubSource } from './requests.ts';

/** The facts of a slice before a row is read. */
interface PreviewHead
  extends Pick<SplitReader, 'features' | 'numRows' | 'info' | 'subset' | 'split' | 'splits'> {
  readonly resolvedRevision: string;
}

/** What a person sees before importing. */
export interface Preview extends PreviewHead, PreviewRows {}

/** A slice of a hub dataset, open for a preview. */
export interface OpenPreview {
  readonly head: PreviewHead;
  /**
   * Reads the first rows, which may add warnings to the head's `info`.
   *
   * @param maxBytes that samples, truncated cells and new warnings may take as JSON text
   */
  readSamples(limit: number, maxBytes: number): Promise<PreviewRows & Pick<PreviewHead, 'info'>>;
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
 * @param mapping the preview shows the items that it makes; null for none
 * @throws HubError; JsonlError, ImportErrors as `planMapping`
 */
export async function openPreview(
  hub: Pick<HubClient, 'openDataset'>,
  { path, revision, token, subset, split }: HubSource,
  mapping: Mapping | null,
  signal: AbortSignal,
): Promise<OpenPreview> {
  const dataset = await hub.openDataset({ path, revision, token, signal, ...PREVIEW_RETRY_POLICY });
  const textColumns = mapping === null ? undefined : typedColumns(mapping);
  const reader = await dataset.select({ subset, split, signal, textColumns });
  const { numRows, splits, specifiedMapping = null } = reader;
  const { columns, warnings } = shownColumns(reader.features, mapping);
  const infoNow = (): JsonObject =>
    withWarnings(reader.info, [...warnings, ...(mapping === null ? [] : mappingWarnings(mapping))]);
  if (mapping !== null) planMapping(mapping, reader.features, reader);
  const features = withTypes(columns, mapping);
  const { resolvedRevision } = dataset;
  return {
    head: {
      ...{ features, numRows, splits, resolvedRevision },
      info: infoNow(),
      subset: reader.subset,
      split: reader.split,
    },
    async readSamples(limit, maxBytes) {
      const collector = new RowsCollector(columns, mapping, maxBytes - WARNING_BYTES);
      for await (const batch of reader.rowBatches({
        limit,
        signal,
        columns: columns.map(({ name }) => name),
      })) {
        for (const { row, rowIndex, split } of batch) await collector.add(row, rowIndex, split);
        if (collector.isFull) break;
      }
      const rows = collector.end(specifiedMapping);
      const suggested = mapping === null ? (rows.suggestion?.warnings ?? []) : [];
      return { ...rows, info: withWarnings(infoNow(), suggested) };
    },
  };
}

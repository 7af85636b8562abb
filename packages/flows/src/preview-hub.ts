import type { HubClient, SplitReader } from '@svc/hub-client';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { type PreviewSamples, SampleCollector } from './preview-samples.ts';
import type { HubSource } from './requests.ts';

export interface PreviewOptions extends HubSource {
  readonly signal: AbortSignal;
  /** Rows to show. */
  readonly limit: number;
  /** Bytes that remain for the samples and the list of truncated cells, as JSON text. */
  readonly remainingBytes: (head: PreviewHead) => number;
}

/** What is known before a row is read. */
interface PreviewHead {
  readonly features: readonly MappableFeature[];
  /** Rows of the resolved slice; null where only reading the data would tell. */
  readonly numRows: number | null;
  readonly info: JsonObject;
  readonly subset: string;
  readonly split: string;
  readonly resolvedRevision: string;
  readonly splits: SplitReader['splits'];
  readonly suggestedMapping: Mapping | null;
}

/** What a person sees before importing. */
export interface Preview extends PreviewHead, PreviewSamples {}

/** Previews are interactive: fewer retries, shorter budget. */
const PREVIEW_RETRY_POLICY = { budgetMs: 30_000, retry: { maxRetries: 2, baseDelayMs: 250 } } as const;

/** Reads what is known of a slice and its first rows. Nothing is stored. */
export async function previewHub(
  options: PreviewOptions,
  hub: Pick<HubClient, 'openDataset'>,
): Promise<Preview> {
  const { signal } = options;
  const { path, revision, token, subset, split } = options;
  const dataset = await hub.openDataset({ path, revision, token, signal, ...PREVIEW_RETRY_POLICY });
  const selection = await dataset.select({ subset, split, signal });
  const head: PreviewHead = {
    features: selection.features,
    numRows: selection.numRows,
    info: selection.info,
    subset: selection.subset,
    split: selection.split,
    resolvedRevision: dataset.resolvedRevision,
    splits: selection.splits,
    suggestedMapping: selection.suggestedMapping,
  };
  const collector = new SampleCollector(options.remainingBytes(head));
  for await (const batch of selection.rowBatches({ limit: options.limit, signal })) {
    for (const { row } of batch) collector.add(row);
  }
  return { ...head, ...collector.end() };
}

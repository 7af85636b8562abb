import type { HubClient, SplitReader } from '@svc/hub-client';
import { type PreviewSamples, SampleCollector } from './preview-samples.ts';
import type { HubSource } from './requests.ts';

/** What is known of a slice before a row is read. */
export interface PreviewHead
  extends Pick<
    SplitReader,
    'features' | 'numRows' | 'info' | 'subset' | 'split' | 'splits' | 'suggestedMapping'
  > {
  readonly resolvedRevision: string;
}

/** What a person sees before importing. */
export interface Preview extends PreviewHead, PreviewSamples {}

/** A slice of a hub dataset, open for a preview. */
export interface OpenPreview {
  readonly head: PreviewHead;
  /** Reads the first rows. @param maxBytes that samples and truncated cells may take as JSON text */
  readSamples(limit: number, maxBytes: number): Promise<PreviewSamples>;
}

/** Previews are interactive: fewer retries, shorter budget, and time for another attempt if the hub does not respond. */
const PREVIEW_RETRY_POLICY = {
  budgetMs: 30_000,
  headersTimeoutMs: 10_000,
  retry: { maxRetries: 2, baseDelayMs: 250 },
} as const;

/** Opens a slice of a hub dataset for a preview. Nothing is stored. @throws HubError */
export async function openPreview(
  hub: Pick<HubClient, 'openDataset'>,
  { path, revision, token, subset, split }: HubSource,
  signal: AbortSignal,
): Promise<OpenPreview> {
  const dataset = await hub.openDataset({ path, revision, token, signal, ...PREVIEW_RETRY_POLICY });
  const reader = await dataset.select({ subset, split, signal });
  const { features, numRows, info, splits, suggestedMapping } = reader;
  const { resolvedRevision } = dataset;
  return {
    head: {
      ...{ features, numRows, info, splits, suggestedMapping, resolvedRevision },
      subset: reader.subset,
      split: reader.split,
    },
    async readSamples(limit, maxBytes) {
      const collector = new SampleCollector(maxBytes);
      for await (const batch of reader.rowBatches({ limit, signal })) {
        for (const { row } of batch) collector.add(row);
      }
      return collector.end();
    },
  };
}

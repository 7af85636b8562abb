import { splitLines } from '@svc/jsonl-v23/internal';
import type { DatasetDraft } from '../src/datasets/dataset-draft.ts';
import type { DatasetSummary } from '../src/datasets/dataset-row.ts';
import type { DatasetStore } from '../src/datasets/dataset-store.ts';
import type { DatasetMeta } from '../src/datasets/insert/insert-dataset.ts';
import type { IdempotencyClaim, StoredResponse } from '../src/idempotency/idempotency-store.ts';
import type { JobClaim } from '../src/jobs/job-store.ts';

/** Sections by name, in order, with their items as JSON text. */
export type Sections = Readonly<Record<string, readonly string[]>>;

export interface ImportOptions {
  readonly signal?: AbortSignal;
  /** The job that imports. */
  readonly job?: JobClaim;
  readonly idempotency?: {
    readonly claim: IdempotencyClaim;
    readonly response: (dataset: DatasetSummary) => StoredResponse;
  };
}

/** Imports items as a flow does. */
export async function importItems(
  datasets: DatasetStore,
  sections: Sections,
  meta: Partial<DatasetMeta> = {},
  { signal, job, idempotency }: ImportOptions = {},
): Promise<DatasetSummary> {
  await using draft = await datasets.begin({ signal });
  await writeSections(draft, sections);
  await draft.insert(metaOf(meta));
  if (job !== undefined) await draft.completeJob(job);
  if (idempotency !== undefined) {
    await draft.saveResponse(idempotency.claim, idempotency.response);
  }
  return await draft.commit();
}

/** Writes items into a draft. */
export async function writeSections(draft: DatasetDraft, sections: Sections): Promise<void> {
  for (const [name, texts] of Object.entries(sections)) {
    await draft.section(name).writeLines(splitLines(linesOf(texts)), LINES);
  }
}

export const LINES = { file: 'test.jsonl', maxDepth: 1000, maxLineBytes: 256 * 1024 * 1024 } as const;

export function metaOf(meta: Partial<DatasetMeta> = {}): DatasetMeta {
  return {
    name: 'a dataset',
    description: null,
    notes: null,
    source: 'pkg_zip',
    schema: '{"package":{"manifest":null,"meta":null},"source":"pkg_zip"}',
    ...meta,
  };
}

/** Items as the bytes of a file. */
export async function* linesOf(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(`${text}\n`);
}

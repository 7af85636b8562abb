import { splitLines } from '@svc/jsonl-v23/lines';
import type { DatasetSummary } from '../../src/store/database/dataset-row.ts';
import type { Idempotent } from '../../src/store/idempotency/idempotency-store.ts';
import type { DatasetDraft } from '../../src/store/import/draft.ts';
import type { DatasetMeta, SectionOptions, StoredImport } from '../../src/store/import/draft-content.ts';
import type { TaskClaim } from '../../src/store/queue/task-queue.ts';

type Draft = Pick<DatasetDraft, 'section' | 'commit'> & AsyncDisposable;

/** Where datasets are stored, in the source or as built. */
interface Datasets {
  begin(options: { readonly signal?: AbortSignal | undefined }): Promise<Draft>;
}

/** Sections by name, in order, with their items as JSON text. */
export type Sections = Readonly<Record<string, readonly string[]>>;

export interface ImportOptions {
  readonly signal?: AbortSignal;
  /** The job that imports. */
  readonly job?: TaskClaim;
  readonly idempotent?: Idempotent<DatasetSummary>;
}

/** Imports items as a flow does. */
export async function importItems(
  datasets: Datasets,
  sections: Sections,
  meta: Partial<DatasetMeta> = {},
  { signal, job, idempotent }: ImportOptions = {},
): Promise<DatasetSummary> {
  await using draft = await datasets.begin({ signal });
  await writeSections(draft, sections);
  const response = idempotent && {
    claim: idempotent.claim,
    of: ({ dataset }: StoredImport) => idempotent.of(dataset),
  };
  return (await draft.commit({ dataset: metaOf(meta), job, response })).dataset;
}

/** Writes items into a draft. */
export async function writeSections(
  draft: Pick<Draft, 'section'>,
  sections: Sections,
  options?: SectionOptions,
): Promise<void> {
  for (const [name, texts] of Object.entries(sections)) {
    await draft.section(name, options).writeLines(splitLines(linesOf(texts)), LINES);
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

import { type ItemInput, versionHash } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { checkNames } from '../package/layout.ts';
import type { ExportDataset, ExportSection } from '../write/export-dataset.ts';
import { stageSection } from './stage-section.ts';
import type { TempDir } from './temp-dir.ts';

/** A dataset whose items are read once. */
export interface StreamedDataset {
  readonly name: string;
  readonly description?: string | null;
  readonly notes?: string | null;
  /** The provenance of the items, written to `meta.json`; or what gives it once all items were read. */
  readonly schema?: JsonObject | (() => JsonObject);
  /** In order. The items of each section are read to the end before the next section's. */
  readonly sections: readonly {
    readonly name: string;
    readonly items: AsyncIterable<ItemInput> | Iterable<ItemInput>;
  }[];
}

export interface StageOptions {
  readonly signal?: AbortSignal | undefined;
  /** Receives the number of items that were read, some hundred at a time. */
  readonly onProgress?: ((itemCount: number) => void) | undefined;
}

const PROGRESS_ITEMS = 500;

/**
 * Reads the items of a dataset once, into temporary files from which it can be written as a package. Memory holds one item,
 * and some bytes for each item that embeds a file.
 *
 * @throws as `datasetFromItems`; errors of the items and of the file system; the signal's reason
 */
export async function stageDataset(
  dataset: StreamedDataset,
  tempDir: TempDir,
  { signal, onProgress }: StageOptions,
): Promise<ExportDataset> {
  checkNames(
    dataset.name,
    dataset.sections.map(({ name }) => name),
  );
  let itemCount = 0;
  const onItem = (): void => {
    itemCount += 1;
    if (itemCount % PROGRESS_ITEMS === 0) onProgress?.(itemCount);
  };
  const sections: ExportSection[] = [];
  for (const [index, section] of dataset.sections.entries()) {
    sections.push(await stageSection(section, tempDir.path(`section-${index}`), { signal, onItem }));
  }
  onProgress?.(itemCount);
  const { schema = {} } = dataset;
  return {
    name: dataset.name,
    description: dataset.description ?? null,
    notes: dataset.notes ?? null,
    schema: canonicalJson(typeof schema === 'function' ? schema() : schema),
    versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)),
    sections,
  };
}

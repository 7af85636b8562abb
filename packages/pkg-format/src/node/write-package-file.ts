import { dirname } from 'node:path';
import { type ItemInput, versionHash } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { checkNames } from '../package/manifest.ts';
import type { ExportDataset, ExportSection } from '../write/export-dataset.ts';
import { preparePackage } from '../write/prepare-package.ts';
import { exists, fileExists, moveIntoPlace } from './move-into-place.ts';
import { stageSection } from './stage-section.ts';
import { createTempDir } from './temp-dir.ts';
import { writeWhole } from './write-whole.ts';
import { zipStream } from './zip/zip-stream.ts';

/** A dataset whose items are read once. */
export interface StreamedDataset {
  readonly name: string;
  readonly description?: string | null;
  readonly notes?: string | null;
  /** The provenance of the items, written to `meta.json`; or what gives it once all items were read. */
  readonly schema?: JsonObject | (() => JsonObject);
  /** In order. Each one's items are read to the end before those of the next. */
  readonly sections: readonly {
    readonly name: string;
    readonly items: AsyncIterable<ItemInput> | Iterable<ItemInput>;
  }[];
}

export interface WriteFileOptions {
  /** Whether an existing file is replaced. */
  readonly force?: boolean;
  readonly signal?: AbortSignal;
  /** Receives the number of items that were read, some hundred at a time. */
  readonly onProgress?: (itemCount: number) => void;
}

/** What was written. */
export interface WrittenPackage {
  readonly versionHash: string;
  readonly itemCount: number;
  readonly sections: readonly { readonly name: string; readonly itemCount: number }[];
}

const PROGRESS_ITEMS = 500;

/**
 * Writes a package whose items are read once, such as the rows of a file. The package appears when it is complete; until
 * then a hidden folder next to it has the temporary files. Memory does not grow with the items.
 *
 * @throws as `datasetFromItems`; errors of the items and of the file system, `EEXIST` if the file exists and `force` is
 *   not set; the signal's reason
 * @example
 * await writePackageFile('sums.pkg.zip', { name: 'Sums', sections: [{ name: 'train', items: readSums() }] });
 */
export async function writePackageFile(
  path: string,
  dataset: StreamedDataset,
  { force = false, signal, onProgress }: WriteFileOptions = {},
): Promise<WrittenPackage> {
  checkNames(
    dataset.name,
    dataset.sections.map(({ name }) => name),
  );
  if (!force && (await exists(path))) throw fileExists(path);
  await using tempDir = await createTempDir(dirname(path));
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
  const staged: ExportDataset = {
    name: dataset.name,
    description: dataset.description ?? null,
    notes: dataset.notes ?? null,
    schema: canonicalJson(typeof schema === 'function' ? schema() : schema),
    versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)),
    sections,
  };
  const temporary = tempDir.path('package.zip');
  await writeWhole(
    temporary,
    zipStream((stopped) => preparePackage(staged, { signal: stopped }), signal),
  );
  await moveIntoPlace(temporary, path, { replace: force });
  return {
    versionHash: staged.versionHash,
    itemCount,
    sections: sections.map((section) => ({ name: section.name, itemCount: section.itemCount })),
  };
}

import { createReadStream } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { createSectionHasher, type ItemInput, type ItemParts, joinItem } from '@svc/jsonl-v23';
import { createSha256 } from '@svc/jsonl-v23/bytes';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { splitLines } from '@svc/jsonl-v23/lines';
import { checkNames } from '../package/layout.ts';
import { encodeValue, withSections } from '../write/dataset-from-items.ts';
import { mayEmbedFiles } from '../write/embedded-files.ts';
import type { ExportDataset, ExportSection } from '../write/export-dataset.ts';
import { linesToBytes } from '../write/lines-to-bytes.ts';
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

/** Reads items once, into temporary files. Memory holds one item, and some bytes for each that embeds a file. */
export async function stageDataset(
  dataset: StreamedDataset,
  tempDir: TempDir,
  { signal, onProgress }: StageOptions,
): Promise<ExportDataset> {
  checkNames(dataset);
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
  return withSections(dataset, typeof schema === 'function' ? schema() : schema, sections);
}

/** Small batches are read, written and forgotten before the garbage collector counts them as old. */
const BATCH_BYTES = 64 * 1024;

interface LineRange {
  readonly start: number;
  readonly bytes: number;
}

/** Reads items once, into a temporary file. Memory holds one item, and some bytes for each that embeds a file. */
export async function stageSection(
  { name, items }: { readonly name: string; readonly items: AsyncIterable<ItemInput> | Iterable<ItemInput> },
  path: string,
  { signal, onItem }: { readonly signal?: AbortSignal | undefined; readonly onItem: () => void },
): Promise<ExportSection> {
  const hasher = createSectionHasher(name);
  const exported = createSha256();
  const embedding = new Map<number, LineRange>();
  let exportedBytes = 0;
  let itemCount = 0;
  let at = 0;
  async function* lines(): AsyncGenerator<[string]> {
    for await (const value of items) {
      signal?.throwIfAborted();
      const encoded = encodeValue(value, { file: name, row: itemCount });
      hasher.add(encoded.itemHash);
      const { payload, answer, checker, assets } = encoded;
      const line = JSON.stringify([payload, answer, checker, assets]);
      const bytes = Buffer.byteLength(line);
      if (mayEmbedFiles(encoded)) embedding.set(itemCount, { start: at, bytes });
      else if (embedding.size === 0) {
        const text = `${joinItem(encoded)}\n`;
        exported.update(text);
        exportedBytes += Buffer.byteLength(text);
      }
      at += bytes + 1;
      itemCount += 1;
      onItem();
      yield [line];
    }
  }
  await writeFile(path, linesToBytes(lines()), { flag: 'wx' });
  return {
    name,
    itemCount,
    sectionHash: hasher.digest(),
    exportFile: embedding.size === 0 ? { bytes: exportedBytes, sha256: exported.digest() } : null,
    items: (readSignal) => readStaged(path, readSignal),
    itemAt: (orderIndex) => readOne(path, embedding.get(orderIndex)),
  };
}

async function* readStaged(path: string, signal?: AbortSignal): AsyncGenerator<ItemParts[]> {
  const options = {
    file: path,
    maxLineBytes: Number.MAX_SAFE_INTEGER,
    batchBytes: BATCH_BYTES,
    signal,
  };
  for await (const batch of splitLines(createReadStream(path), options)) {
    const lines = Buffer.from(batch.bytes.buffer, batch.bytes.byteOffset, batch.bytes.byteLength)
      .toString()
      .split('\n');
    yield lines.filter((line) => line !== '').map(toParts);
  }
}

async function readOne(path: string, range: LineRange | undefined): Promise<ItemParts> {
  if (range === undefined) throw new RangeError('The item embeds no file.');
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(range.bytes);
    await file.read(bytes, 0, range.bytes, range.start);
    return toParts(bytes.toString());
  } finally {
    await file.close();
  }
}

function toParts(line: string): ItemParts {
  const [payload, answer, checker, assets] = JSON.parse(line) as [string, ...(string | null)[]];
  return { payload, answer: answer ?? null, checker: checker ?? null, assets: assets ?? null };
}

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createSectionHasher, type ItemInput, joinItem } from '@svc/jsonl-v23';
import { createSha256, type ItemParts, splitLines } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { checkNames } from '../package/layout.ts';
import { encodeValue, withSections } from '../write/dataset-from-items.ts';
import { mayEmbedFiles } from '../write/embedded-files.ts';
import type { ExportDataset, ExportSection } from '../write/export-dataset.ts';
import { encodeText } from '../write/lines-to-bytes.ts';
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

/** Where the line of an item is in a staging file. */
interface LineRange {
  readonly start: number;
  readonly bytes: number;
}

/**
 * Encodes the items of a section, which are read once, into a temporary file from which a package can be written. Memory
 * holds one item, and some bytes for each item that embeds a file.
 *
 * @param path of the temporary file
 * @param onItem is called after each item
 * @throws as `datasetFromItems`; errors of the source and the file system; the signal's reason
 */
export async function stageSection(
  { name, items }: { readonly name: string; readonly items: AsyncIterable<ItemInput> | Iterable<ItemInput> },
  path: string,
  { signal, onItem }: { readonly signal?: AbortSignal | undefined; readonly onItem: () => void },
): Promise<ExportSection> {
  const hasher = createSectionHasher(name);
  const fileHash = createSha256();
  const embedding = new Map<number, LineRange>();
  let fileBytes = 0;
  let itemCount = 0;
  let at = 0;
  const staged = new TextBlock();
  const exported = new TextBlock();
  const file = await open(path, 'wx');
  const hash = (bytes: Uint8Array): void => {
    fileHash.update(bytes);
    fileBytes += bytes.byteLength;
  };
  try {
    for await (const value of items) {
      signal?.throwIfAborted();
      const encoded = encodeValue(value, { file: name, row: itemCount });
      hasher.add(encoded.itemHash);
      const { payload, answer, checker, assets } = encoded;
      const line = `${JSON.stringify([payload, answer, checker, assets])}\n`;
      const bytes = Buffer.byteLength(line);
      if (mayEmbedFiles(encoded)) embedding.set(itemCount, { start: at, bytes });
      else if (embedding.size === 0)
        for (const piece of piecesOf(exported, `${joinItem(encoded)}\n`)) hash(piece);
      for (const piece of piecesOf(staged, line)) await file.writeFile(piece);
      at += bytes;
      itemCount += 1;
      onItem();
    }
    hash(exported.take());
    await file.writeFile(staged.take());
  } finally {
    await file.close();
  }
  return {
    name,
    itemCount,
    sectionHash: hasher.digest(),
    exportFile: embedding.size === 0 ? { bytes: fileBytes, sha256: fileHash.digest() } : null,
    items: (readSignal) => readStaged(path, readSignal),
    itemAt: (orderIndex) => readOne(path, embedding.get(orderIndex)),
  };
}

/** Adds a text to a block. Yields the bytes of earlier texts if it does not fit, and its own if no block can hold it. */
function* piecesOf(block: TextBlock, text: string): Generator<Uint8Array> {
  if (!block.hasRoomFor(text)) yield block.take();
  if (block.hasRoomFor(text)) block.add(text);
  else yield* encodeText(text);
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

const BLOCK_BYTES = 256 * 1024;
/** Bytes of UTF-8 that a UTF-16 code unit may take. */
const MAX_BYTES_PER_UNIT = 3;

/** Collects texts as UTF-8 in one block of memory that is used again and again, so that no text outlives its item. */
class TextBlock {
  readonly #bytes: Buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  #usedBytes = 0;

  /** Whether a text fits for certain. */
  hasRoomFor(text: string): boolean {
    return text.length * MAX_BYTES_PER_UNIT <= BLOCK_BYTES - this.#usedBytes;
  }

  /** Adds a text that fits. */
  add(text: string): void {
    this.#usedBytes += this.#bytes.write(text, this.#usedBytes);
  }

  /** The bytes so far, which are valid until the next `add`. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#usedBytes);
    this.#usedBytes = 0;
    return bytes;
  }
}

import type { FileReference, SourceLocation } from '@svc/jsonl-v23';
import { EmbeddedSize } from '@svc/jsonl-v23/assets';
import { createYielder } from '../../../concurrency/index.ts';
import type {
  EncodedRows,
  FilledLines,
  ItemFiles,
  LineOptions,
  NeedsFiles,
  RowTarget,
} from './encode-rows.ts';

/** The files to which the items of a section refer. */
export interface ItemFileSource {
  /** Looks for the files of a batch of items: why no item may refer to each, without a full stop; null if it can be read. */
  problems(references: readonly FileReference[]): Promise<readonly (string | null)[]>;
  /**
   * Reads a file of the batch, each in the order of the items; `location` is that of the reference. Nothing changes the bytes,
   * so they may be given to several items.
   */
  read(reference: FileReference, location: SourceLocation): Promise<Uint8Array>;
}

/** The part of a `RowEncoder` for lines whose files have been read. */
interface FilledEncoder {
  readonly parallelism: number;
  encodeFilled(lines: FilledLines, target: RowTarget, options: LineOptions): Promise<EncodedRows>;
}

/** Items with their files are encoded together up to this size, which is enough to be worth a thread. */
const GROUP_BYTES = 1024 * 1024;
/** Items of one group may refer to the same file, whose base64 text is hashed for each. */
const GROUP_TEXT_BYTES = 128 * 1024 * 1024;
/** Size of an item without files that are new to its group. */
const LINE_BYTES = 64 * 1024;
/** Total size of the groups that are encoded concurrently, unless it is a single group. */
const RUNNING_BYTES = 4 * 1024 * 1024;

/** Items that are encoded together, and the files that they refer to. */
interface Group {
  readonly items: ItemFiles[];
  /** For each item; the same array where it is the same file. */
  readonly contents: Uint8Array[][];
  readonly files: Set<Uint8Array>;
  readonly firstOrdinal: number;
  /** Size of the lines, and of each file once. */
  bytes: number;
  /** Total size of the canonical texts, files included. */
  itemBytes: number;
}

/**
 * Reads the files that the items of a batch refer to, and encodes the items with them, some groups at a time. A file counts
 * against the size of its item before its base64 text is made. Memory holds 4 MiB of groups, or one item where that is
 * larger.
 */
export async function* encodeWithFiles(
  encoder: FilledEncoder,
  needed: NeedsFiles,
  target: RowTarget,
  options: LineOptions,
  files: Pick<ItemFileSource, 'read'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedRows> {
  const running: { readonly rows: Promise<EncodedRows>; readonly bytes: number }[] = [];
  const runningBytes = (): number => running.reduce((sum, { bytes }) => sum + bytes, 0);
  try {
    for await (const group of groupsOf(needed, target, options, files, signal)) {
      const isBusy = (): boolean =>
        running.length >= encoder.parallelism || runningBytes() + group.bytes > RUNNING_BYTES;
      while (running.length > 0 && isBusy()) {
        const encoded = await running[0]?.rows;
        running.shift();
        if (encoded !== undefined) yield encoded;
      }
      const rows = encodeGroup(encoder, needed.bytes, group, target, options);
      // A failure is thrown when its turn comes; until then it must not count as unhandled.
      rows.catch(() => undefined);
      running.push({ rows, bytes: group.bytes });
    }
    for (const { rows } of running) yield await rows;
  } finally {
    await Promise.allSettled(running.map(({ rows }) => rows));
  }
}

async function* groupsOf(
  needed: NeedsFiles,
  target: RowTarget,
  { file, maxLineBytes }: LineOptions,
  files: Pick<ItemFileSource, 'read'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Group> {
  const yieldToEventLoop = createYielder();
  let group = emptyGroup(target.firstOrdinal);
  for (const [index, item] of needed.items.entries()) {
    const location = { file, line: item.line };
    const size = new EmbeddedSize(item.itemBytes, { maxItemBytes: maxLineBytes, location });
    const contents: Uint8Array[] = [];
    for (const reference of item.references) {
      const content = await files.read(reference, { ...location, path: reference.pointer });
      // A cached file is available immediately, so thousands of references would take one turn of the event loop.
      await yieldToEventLoop();
      signal?.throwIfAborted();
      size.add(reference, content.byteLength);
      contents.push(content);
    }
    const newBytes = item.end - item.start + newBytesOf(contents, group.files);
    if (group.items.length > 0 && !hasRoom(group, newBytes, size.bytes)) {
      yield group;
      group = emptyGroup(target.firstOrdinal + index);
    }
    for (const content of contents) {
      if (!group.files.has(content)) group.bytes += content.byteLength;
      group.files.add(content);
    }
    group.items.push(item);
    group.contents.push(contents);
    group.bytes += item.end - item.start;
    group.itemBytes += size.bytes;
  }
  if (group.items.length > 0) yield group;
}

/** Whether an item belongs to a group: also one that adds nothing but its line to a group with a large file. */
function hasRoom(group: Group, newBytes: number, itemBytes: number): boolean {
  if (group.itemBytes + itemBytes > GROUP_TEXT_BYTES) return false;
  return group.bytes + newBytes <= GROUP_BYTES || (group.bytes > GROUP_BYTES && newBytes <= LINE_BYTES);
}

const emptyGroup = (firstOrdinal: number): Group => ({
  items: [],
  contents: [],
  files: new Set(),
  firstOrdinal,
  bytes: 0,
  itemBytes: 0,
});

function newBytesOf(contents: readonly Uint8Array[], known: ReadonlySet<Uint8Array>): number {
  let bytes = 0;
  for (const content of new Set(contents)) if (!known.has(content)) bytes += content.byteLength;
  return bytes;
}

function encodeGroup(
  encoder: FilledEncoder,
  bytes: Uint8Array,
  { items, contents, itemBytes, firstOrdinal }: Group,
  target: RowTarget,
  options: LineOptions,
): Promise<EncodedRows> {
  const [first, last] = [items[0] as ItemFiles, items.at(-1) as ItemFiles];
  const batch = {
    bytes: bytes.subarray(first.start, last.end),
    firstLine: first.line,
    lineCount: last.line - first.line + 1,
    itemCount: items.length,
  };
  return encoder.encodeFilled({ batch, contents, itemBytes }, { ...target, firstOrdinal }, options);
}

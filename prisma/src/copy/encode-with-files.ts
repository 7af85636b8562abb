import type { SourceLocation } from '@svc/jsonl-v23';
import { EmbeddedSize } from '@svc/jsonl-v23/internal';
import { createYielder } from './create-yielder.ts';
import type { RowTarget } from './encode-rows.ts';
import type { EncodedRows, ItemFiles, LineOptions, NeedsFiles } from './encoded-rows.ts';
import type { RowEncoder } from './row-encoder.ts';

/**
 * Reads a file that an item refers to; `location` is that of the reference. Nothing changes the bytes, so they may be
 * given to several items.
 */
export type ReadFile = (path: string, location: SourceLocation) => Promise<Uint8Array>;

/** Items with their files are encoded together up to this size, which is enough to be worth a thread. */
const GROUP_BYTES = 1024 * 1024;

/**
 * Reads the files that the items of a batch refer to, and encodes the items with them, some at a time. A file counts
 * against the size of its item before its base64 text is made. Memory holds one group: 1 MiB, or one item where that is
 * larger.
 *
 * @throws JsonlError `line_too_long` with the line for an item that is too large with its files; what `readFile` throws;
 *   the signal's reason
 */
export async function* encodeWithFiles(
  encoder: Pick<RowEncoder, 'encodeFilled'>,
  needed: NeedsFiles,
  target: RowTarget,
  options: LineOptions,
  readFile: ReadFile,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedRows> {
  const { file, maxLineBytes } = options;
  let { firstOrderIndex } = target;
  let items: ItemFiles[] = [];
  let contents: Uint8Array[][] = [];
  let itemBytes = 0;

  function encodeGroup(): Promise<EncodedRows> {
    const [first, last] = [items[0] as ItemFiles, items.at(-1) as ItemFiles];
    const batch = {
      bytes: needed.bytes.subarray(first.start, last.end),
      firstLine: first.line,
      lineCount: last.line - first.line + 1,
      itemCount: items.length,
    };
    const encoded = encoder.encodeFilled(
      { batch, contents, itemBytes },
      { ...target, firstOrderIndex },
      options,
    );
    firstOrderIndex += items.length;
    [items, contents, itemBytes] = [[], [], 0];
    return encoded;
  }

  const yieldToEventLoop = createYielder();
  for (const item of needed.items) {
    const location = { file, line: item.line };
    const size = new EmbeddedSize(item.itemBytes, { maxItemBytes: maxLineBytes, location });
    const files: Uint8Array[] = [];
    for (const reference of item.references) {
      const content = await readFile(reference.path, { ...location, path: reference.pointer });
      // A cached file is there at once, so thousands of references would take one turn of the event loop.
      await yieldToEventLoop();
      signal?.throwIfAborted();
      size.add(reference, content.byteLength);
      files.push(content);
    }
    items.push(item);
    contents.push(files);
    itemBytes += size.bytes;
    if (itemBytes >= GROUP_BYTES) yield await encodeGroup();
  }
  if (items.length > 0) yield await encodeGroup();
}

import { EmbeddedSize } from '@svc/jsonl-v23/internal';
import type { PackageReader } from '@svc/pkg-format';
import { createYielder } from './create-yielder.ts';
import type { EncodedRows, ItemFiles, LineOptions, NeedsFiles, RowEncoder, SectionTarget } from './ports.ts';

/** Items with their files are encoded together up to this size: enough to be worth a thread. */
const GROUP_BYTES = 1024 * 1024;

/**
 * Reads the files that the items of a batch name, and has the items encoded with them, some at a time. A file counts
 * against the size of its item before its base64 text is made, and against the limits of the archive as often as it is
 * named. Memory holds one group: 1 MiB, or one item where that is larger.
 *
 * @throws JsonlError `line_too_long` with the line for an item that is too large with its files; PackageError as
 *   `PackageReader.readFile`; the signal's reason
 */
export async function* encodeWithFiles(
  pkg: Pick<PackageReader, 'readFile'>,
  needed: NeedsFiles,
  target: SectionTarget,
  firstOrderIndex: number,
  options: LineOptions & { readonly signal: AbortSignal },
  encoder: Pick<RowEncoder, 'encodeFilled'>,
): AsyncGenerator<EncodedRows> {
  const { file, maxDepth, maxLineBytes, signal } = options;
  let orderIndex = firstOrderIndex;
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
    const encoded = encoder.encodeFilled({ batch, contents, itemBytes }, target, orderIndex, {
      file,
      maxDepth,
      maxLineBytes,
    });
    orderIndex += items.length;
    [items, contents, itemBytes] = [[], [], 0];
    return encoded;
  }

  const yieldToEventLoop = createYielder();
  for (const item of needed.items) {
    const location = { file, line: item.line };
    const size = new EmbeddedSize(item.itemBytes, { maxItemBytes: maxLineBytes, location });
    const files: Uint8Array[] = [];
    for (const reference of item.references) {
      const content = await pkg.readFile(reference.path, { ...location, path: reference.pointer });
      // A file that was read lately is there at once, so thousands of references would be one turn of the event loop.
      await yieldToEventLoop();
      signal.throwIfAborted();
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

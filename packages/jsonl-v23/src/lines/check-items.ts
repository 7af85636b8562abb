import { JsonlError } from '../errors.ts';
import type { Item } from '../item/item.ts';
import type { SourceLocation } from '../source-location.ts';
import { byteChunks, type ItemSource } from './byte-chunks.ts';
import { type CutLine, cutLines } from './cut-lines.ts';
import { parseLines } from './read-items.ts';
import { type CheckItemsOptions, checkReadOptions } from './read-options.ts';

/** A line that is not blank: its item, or why it is not one. */
export type CheckedItem =
  | { readonly location: SourceLocation; readonly item: Item; readonly error?: undefined }
  | { readonly location: SourceLocation; readonly item?: undefined; readonly error: JsonlError };

/**
 * Checks every line of a JSON Lines file: reads as `readItems` does, but goes on after a faulty line. Holds one chunk of the
 * source and one line.
 *
 * @throws TypeError for another kind of source; the signal's reason; what the source throws
 *
 * @example
 * for await (const { location, error } of checkItems(createReadStream('a.jsonl'), { file: 'a.jsonl' })) {
 *   if (error) console.log(formatLocation(error.location), error.message);
 * }
 */
export async function* checkItems(
  source: ItemSource,
  options: CheckItemsOptions = {},
): AsyncGenerator<CheckedItem, void, undefined> {
  checkReadOptions('checkItems', options);
  const { signal } = options;
  for await (const lines of cutLines(byteChunks(source), options)) {
    for (const line of lines) {
      signal?.throwIfAborted();
      const checked = checkLine(line, options);
      if (checked !== null) yield checked;
    }
  }
}

/** The item of one line, or its error; null for a blank line. */
export function checkLine(
  { line, bytes, fault }: CutLine,
  options: Pick<CheckItemsOptions, 'file' | 'maxDepth'>,
): CheckedItem | null {
  const location: SourceLocation = options.file === undefined ? { line } : { file: options.file, line };
  if (fault !== null) {
    return { location, error: new JsonlError('line_too_long', `Line ${line} ${fault}`, location) };
  }
  try {
    const [located] = parseLines({ bytes, firstLine: line, lineCount: 1, itemCount: 1 }, options);
    return located ?? null;
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    return { location, error };
  }
}

import { JsonlError } from '../errors.ts';
import type { Item } from '../item/item.ts';
import { itemErrors } from '../item/parse-item.ts';
import { DEFAULT_MAX_DEPTH, parseJson } from '../json/parse-json.ts';
import type { SourceLocation } from '../source-location.ts';
import { byteChunks, type ItemSource } from './byte-chunks.ts';
import { type CutLine, cutLines } from './line-cutter.ts';
import { type CheckItemsOptions, checkReadOptions, parseLines, withColumn } from './read-items.ts';

/** A line that is not blank: its item, or why it is not one. */
export type CheckedItem =
  | {
      readonly location: SourceLocation;
      readonly item: Item;
      readonly error?: undefined;
      readonly errors?: undefined;
    }
  | {
      readonly location: SourceLocation;
      readonly item?: undefined;
      /** The first error, which `readItems` throws. */
      readonly error: JsonlError;
      /** All errors of the line, this one included; at most 10, because finding the column of each reads the line again. */
      readonly errors: readonly JsonlError[];
    };

const MAX_LINE_ERRORS = 10;

/**
 * Checks every line of a JSON Lines file: reads as `readItems` does, but continues after a faulty line. Holds one batch of
 * lines.
 *
 * @throws TypeError for another kind of source; the signal's reason; what the source throws
 *
 * @example
 * for await (const { errors = [] } of checkItems(createReadStream('a.jsonl'), { file: 'a.jsonl' })) {
 *   for (const error of errors) console.log(formatLocation(error.location), error.message);
 * }
 */
export async function* checkItems(
  source: ItemSource,
  options: CheckItemsOptions = {},
): AsyncGenerator<CheckedItem, void, undefined> {
  checkReadOptions(options);
  const { signal } = options;
  for await (const lines of cutLines(byteChunks(source), options)) {
    for (const line of lines) {
      signal?.throwIfAborted();
      const checked = checkLine(line, options);
      if (checked !== null) yield checked;
    }
  }
}

/** The item of one line, or its errors; null for a blank line. */
export function checkLine(
  { line, bytes, fault }: CutLine,
  options: Pick<CheckItemsOptions, 'file' | 'maxDepth'>,
): CheckedItem | null {
  const location: SourceLocation = options.file === undefined ? { line } : { file: options.file, line };
  if (fault !== null) {
    const error = new JsonlError('line_too_long', `Line ${line} ${fault}`, location);
    return { location, error, errors: [error] };
  }
  try {
    const [located] = parseLines({ bytes, firstLine: line, lineCount: 1, itemCount: 1 }, options);
    return located ?? null;
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const errors = isOfItem(error) ? lineErrors(bytes, location, options.maxDepth) : [error];
    return { location, error, errors };
  }
}

/** Whether an error concerns a part of an item, so that there can be more. */
const isOfItem = ({ code }: JsonlError): boolean =>
  code === 'invalid_item' || code === 'invalid_asset' || code === 'missing_file';

/** The errors of a line that is JSON. */
function lineErrors(
  bytes: Uint8Array,
  location: SourceLocation,
  maxDepth: number = DEFAULT_MAX_DEPTH,
): JsonlError[] {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const value = parseJson(text, { maxDepth, location });
  return itemErrors(value, location, MAX_LINE_ERRORS).map((error) => withColumn(error, text, 0));
}

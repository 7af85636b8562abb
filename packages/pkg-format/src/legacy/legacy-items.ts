import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { type LineBatch, splitLines } from '@svc/jsonl-v23/internal';
import { isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { explainLineError } from '../package/explain-line-error.ts';
import type { Archive } from '../package/open-archive.ts';
import { decodeUtf8 } from '../zip/entry-name.ts';
import type { LegacySection } from './legacy-sources.ts';
import { parseItemAt, splitJsonItems } from './split-json-items.ts';

/** An item of a legacy archive, not checked, and its location. */
export interface LegacyItem {
  /** Index in the file's `sections`; null where the file is one section. */
  readonly section: number | null;
  readonly item: JsonObject;
  /** In a JSON file with the index of the item in its list as `row`. */
  readonly location: SourceLocation;
  /** JSON Pointer of the item in its JSON file; empty for an item that is a line. */
  readonly pointer: string;
}

/**
 * Reads the items of a legacy file in order, with one batch of lines in memory.
 *
 * @throws PackageError `package_invalid_line`, `package_invalid_json`, `package_limit`, `package_corrupt`
 */
export async function* readLegacyItems(
  archive: Archive,
  file: string,
  kind: LegacySection['kind'],
  signal?: AbortSignal,
): AsyncGenerator<LegacyItem> {
  const { maxLineBytes, maxDepth } = archive.limits;
  const bytes = archive.read(file, { ...(signal && { signal }) });
  if (kind === 'json') {
    const options = { file, maxValueBytes: maxLineBytes, maxDepth };
    for await (const part of splitJsonItems(bytes, options)) {
      if (part.kind !== 'item') continue;
      const { line, path = '' } = part.location;
      yield {
        section: part.section,
        item: parseItemAt(part, options),
        location: { file, row: part.index, ...(line !== undefined && { line }) },
        pointer: path,
      };
    }
    return;
  }
  try {
    for await (const batch of splitLines(bytes, { file, maxLineBytes, ...(signal && { signal }) })) {
      yield* parseBatch(batch, file, maxDepth);
    }
  } catch (error) {
    throw await explainLineError(archive, error, file, signal);
  }
}

/** Like `parseLines`, but for objects of any shape. */
function* parseBatch({ bytes, firstLine }: LineBatch, file: string, maxDepth: number): Generator<LegacyItem> {
  let line = firstLine;
  for (let start = 0; start < bytes.length; line += 1) {
    const lineFeed = bytes.indexOf(0x0a, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    const location = { file, line };
    const text = decodeUtf8(bytes.subarray(start, end));
    start = end + 1;
    if (text === null) throw new JsonlError('invalid_utf8', 'The line is not UTF-8', location);
    if (/^[ \t\r]*$/.test(text)) continue;
    const item = parseJson(text, { maxDepth, location });
    if (!isJsonObject(item)) throw new JsonlError('not_an_object', 'An item must be an object', location);
    yield { section: null, item, location, pointer: '' };
  }
}

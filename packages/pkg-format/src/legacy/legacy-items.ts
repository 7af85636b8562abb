import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { type CutLine, cutLines } from '@svc/jsonl-v23/internal';
import { isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { PackageError, toPackageError } from '../errors.ts';
import type { Archive } from '../package/open-archive.ts';
import { decodeUtf8 } from '../zip/entry-name.ts';
import type { LegacySection } from './legacy-sources.ts';
import { parseItemAt, splitJsonItems } from './split-json-items.ts';

/** An item of a legacy archive, not checked, and its location. */
export interface LegacyItem {
  /** Index in the file's `sections`; null where the file is one section. */
  readonly section: number | null;
  /** The item, or why it cannot be read. */
  readonly item: JsonObject | PackageError;
  /** In a JSON file with the index of the item in its list as `row`. */
  readonly location: SourceLocation;
  /** JSON Pointer of the item in its JSON file; empty for an item that is a line. */
  readonly pointer: string;
}

/**
 * Reads the items of a legacy file in order, also after an invalid one, with one line in memory.
 *
 * @throws PackageError `package_invalid_json` for a JSON file that cannot be read further, `package_limit`,
 *   `package_corrupt`
 */
export async function* readLegacyItems(
  archive: Pick<Archive, 'read' | 'limits'>,
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
      const location = { file, row: part.index, ...(line !== undefined && { line }) };
      const item = itemOrError(() => parseItemAt(part, options), { ...part.location, ...location });
      yield { section: part.section, item, location, pointer: path };
    }
    return;
  }
  for await (const lines of cutLines(bytes, { maxLineBytes, ...(signal && { signal }) })) {
    for (const line of lines) {
      const location = { file, line: line.line };
      const item = itemOrError(() => parseLine(line, maxDepth, location), location);
      if (item !== null) yield { section: null, item, location, pointer: '' };
    }
  }
}

/** The error instead of an item, with at least this location. */
function itemOrError<T>(
  parse: () => T,
  location: SourceLocation & { readonly file: string },
): T | PackageError {
  try {
    return parse();
  } catch (error) {
    const found = toPackageError(error, location.file);
    if (!(found instanceof PackageError)) throw found;
    const { code, message, cause } = found;
    return new PackageError(code, message, {
      entry: location.file,
      location: { ...location, ...found.location },
      cause,
    });
  }
}

/** An object of any shape; null for a blank line. */
function parseLine(
  { line, bytes, fault }: CutLine,
  maxDepth: number,
  location: SourceLocation,
): JsonObject | null {
  if (fault !== null) throw new JsonlError('line_too_long', `Line ${line} ${fault}`, location);
  const text = decodeUtf8(bytes);
  if (text === null) throw new JsonlError('invalid_utf8', 'The line is not UTF-8', location);
  if (/^[ \t\r]*$/.test(text)) return null;
  const item = parseJson(text, { maxDepth, location });
  if (!isJsonObject(item)) throw new JsonlError('not_an_object', 'An item must be an object', location);
  return item;
}

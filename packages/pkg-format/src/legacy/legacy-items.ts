import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type LocatedText, locateValue, parseJson } from '@svc/jsonl-v23/json';
import { type CutLine, LineCutter, type PlainLineCollector, type PlainLines } from '@svc/jsonl-v23/lines';
import { PackageError, toPackageError } from '../errors.ts';
import type { Archive } from '../package/layout.ts';
import { decodeUtf8 } from '../zip/byte-source.ts';
import type { LegacySection } from './legacy-sources.ts';
import { parseItemAt, splitJsonItems } from './split-json-items.ts';

/** An item of a legacy archive, not checked, and its location. */
export interface LegacyItem {
  /** Index in the file's `sections`; null if the file is one section. */
  readonly section: number | null;
  /** The item, or why it cannot be read. */
  readonly item: JsonObject | PackageError;
  /** In a JSON file with the index of the item in its list as `row`. */
  readonly location: SourceLocation;
  /** Its text in the file; the location has the JSON Pointer of the item in a JSON file, and none for a line. */
  readonly source: LocatedText;
}

/** Consecutive lines that need no upgrade, as they are written into the package. */
export interface UpgradedLines {
  readonly section: null;
  readonly lines: PlainLines;
}

/** Continues after an invalid item. @param plain collects lines that need no upgrade, if no prompts are added */
export async function* readLegacyItems<Lines extends UpgradedLines = never>(
  archive: Pick<Archive, 'limits' | 'read'>,
  file: string,
  kind: LegacySection['kind'],
  signal?: AbortSignal,
  plain: PlainLineCollector | null = null,
): AsyncGenerator<LegacyItem | Lines> {
  const { maxLineBytes, maxDepth } = archive.limits;
  // JSON is cut into items of several chunks; lines are copied.
  const bytes = archive.read(file, { isTransient: kind === 'jsonl', signal });
  if (kind === 'json') {
    const options = { file, maxValueBytes: maxLineBytes, maxDepth };
    for await (const part of splitJsonItems(bytes, options)) {
      if (part.kind !== 'item') continue;
      const { line } = part.location;
      const location = { file, row: part.index, ...(line !== undefined && { line }) };
      const item = itemOrError(() => parseItemAt(part, options), { ...part.location, ...location });
      yield { section: part.section, item, location, source: part };
    }
    return;
  }
  for await (const lines of new LineCutter({ maxLineBytes, signal }).lines(bytes)) {
    for (const line of lines) {
      if (plain !== null && line.fault === null && plain.add(line.bytes, maxDepth, maxLineBytes)) {
        if (plain.isFull) yield { section: null, lines: plain.take() } as Lines;
        continue;
      }
      if (plain?.isEmpty === false) yield { section: null, lines: plain.take() } as Lines;
      const location = { file, line: line.line };
      let text = '';
      const item = itemOrError(() => {
        text = lineText(line, location);
        return parseLine(text, maxDepth, location);
      }, location);
      if (item !== null) yield { section: null, item, location, source: { text, location } };
    }
  }
  if (plain?.isEmpty === false) yield { section: null, lines: plain.take() } as Lines;
}

/** Where a value of the upgraded item is in the file; for one that was moved or made, the innermost container. */
export function locateInSource({ source: { text, location } }: LegacyItem, path: string): SourceLocation {
  const at = locateValue(text, 0, path);
  const { line = 1, column = 1, path: pointer = '' } = location;
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  return {
    line: line + text.slice(0, lineStart).split('\n').length - 1,
    column: at - lineStart + (lineStart === 0 ? column : 1),
    path: `${pointer}${path}`,
  };
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

function lineText({ line, bytes, fault }: CutLine, location: SourceLocation): string {
  if (fault !== null) throw new JsonlError('line_too_long', `Line ${line} ${fault}`, location);
  const text = decodeUtf8(bytes);
  if (text === null) throw new JsonlError('invalid_utf8', 'The line is not UTF-8', location);
  return text;
}

/** An object of any shape; null for a blank line. */
function parseLine(text: string, maxDepth: number, location: SourceLocation): JsonObject | null {
  if (/^[ \t\r]*$/.test(text)) return null;
  const item = parseJson(text, { maxDepth, location });
  if (!isJsonObject(item)) throw new JsonlError('not_an_object', 'An item must be an object', location);
  return item;
}

/** A source with a look at its next value; disposing it closes the source. */
export class Peekable<T> implements AsyncDisposable {
  readonly #iterator: AsyncIterator<T>;
  #waiting: IteratorResult<T> | undefined;

  constructor(source: AsyncIterable<T>) {
    this.#iterator = source[Symbol.asyncIterator]();
  }

  /** The next value, which is not taken; undefined at the end. */
  async peek(): Promise<T | undefined> {
    this.#waiting ??= await this.#iterator.next();
    return this.#waiting.done ? undefined : this.#waiting.value;
  }

  /** Takes the value that `peek` returned. */
  take(): void {
    if (!this.#waiting?.done) this.#waiting = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#iterator.return?.();
  }
}

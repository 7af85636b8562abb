import type { Item, SourceLocation } from '@svc/jsonl-v23';
import { type LineBatch, parseLines, splitLines } from '@svc/jsonl-v23/internal';
import { PackageError, type PackageLimits } from '@svc/pkg-format';
import { toPackageError } from '@svc/pkg-format/internal';
import type { ShortenedLines } from './shorten-lines.ts';

/** A line of a JSON Lines file: its item, its error, or neither if it is blank. */
export interface CheckedLine {
  readonly location: SourceLocation;
  /** Without the line feed. */
  readonly bytes: Uint8Array;
  readonly item: Item | null;
  readonly error: PackageError | null;
}

export interface CheckLinesOptions {
  readonly file: string;
  readonly limits: PackageLimits;
  readonly signal: AbortSignal;
}

const LINE_FEED = 10;

/**
 * Reads every line of a JSON Lines file, also after an invalid one, unlike an import. Keeps a batch of lines in memory.
 *
 * @throws the error of the source; an invalid line does not throw, it has an error
 */
export async function* checkLines(
  source: ShortenedLines,
  { file, limits, signal }: CheckLinesOptions,
): AsyncGenerator<CheckedLine> {
  // The source has already cut long lines; the limit of the splitter only has to accept them.
  const batches = splitLines(source, { file, maxLineBytes: limits.maxLineBytes + 4, signal });
  for await (const batch of batches) {
    for (const { line, bytes } of linesOf(batch)) {
      const location = { file, line };
      if (source.tooLong.has(line)) {
        const message = `Line ${line} is longer than ${limits.maxLineBytes} bytes`;
        yield {
          location,
          bytes,
          item: null,
          error: new PackageError('package_limit', message, { location }),
        };
        continue;
      }
      yield { location, bytes, ...checkLine(bytes, line, file, limits.maxDepth) };
    }
    signal.throwIfAborted();
  }
}

function checkLine(
  bytes: Uint8Array,
  line: number,
  file: string,
  maxDepth: number,
): Pick<CheckedLine, 'item' | 'error'> {
  try {
    const located = parseLines({ bytes, firstLine: line, lineCount: 1, itemCount: 1 }, { file, maxDepth });
    return { item: located[0]?.item ?? null, error: null };
  } catch (error) {
    const packageError = toPackageError(error, file);
    if (!(packageError instanceof PackageError)) throw packageError;
    return { item: null, error: packageError };
  }
}

function* linesOf(batch: LineBatch): Generator<{ line: number; bytes: Uint8Array }> {
  let line = batch.firstLine;
  for (let start = 0; start < batch.bytes.length; line++) {
    const lineFeed = batch.bytes.indexOf(LINE_FEED, start);
    const end = lineFeed === -1 ? batch.bytes.length : lineFeed;
    yield { line, bytes: batch.bytes.subarray(start, end) };
    start = end + 1;
  }
}

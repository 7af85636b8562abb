import type { Item, SourceLocation } from '@svc/jsonl-v23';
import { checkLine, LineCutter } from '@svc/jsonl-v23/lines';
import { type PackageError, toPackageError } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';

/** A line of a JSON Lines file: its item, its errors, or neither if it is blank. */
export interface CheckedLine {
  readonly location: SourceLocation;
  /** Without the line feed; only the beginning of a line that is too long. */
  readonly bytes: Uint8Array;
  readonly item: Item | null;
  /** Empty if the line is valid or blank. */
  readonly errors: readonly PackageError[];
}

/** Facts that are known at the end of a file. */
export interface FileEnds {
  readonly hasByteOrderMark: boolean;
  readonly endsWithLineFeed: boolean;
}

export interface CheckLinesOptions {
  readonly file: string;
  readonly limits: PackageLimits;
  readonly signal?: AbortSignal | undefined;
  /** Receives how the file begins and ends. */
  readonly onEnd?: ((ends: FileEnds) => void) | undefined;
}

/**
 * Reads every line of a JSON Lines file, also after an invalid one, unlike an import. Holds one line in memory.
 * An invalid line does not throw: it has errors.
 *
 * @throws the error of the source, and the signal's reason
 */
export async function* checkLines(
  source: AsyncIterable<Uint8Array>,
  { file, limits, signal, onEnd }: CheckLinesOptions,
): AsyncGenerator<CheckedLine, void, undefined> {
  const { maxLineBytes, maxDepth } = limits;
  const cutter = new LineCutter({ maxLineBytes, signal });
  for await (const batch of cutter.lines(source)) {
    for (const line of batch) {
      signal?.throwIfAborted();
      const {
        location = { file, line: line.line },
        item = null,
        errors = [],
      } = checkLine(line, { file, maxDepth }) ?? {};
      const problems = errors.map((error) => toPackageError(error, file) as PackageError);
      yield { location, bytes: line.bytes, item, errors: problems };
    }
  }
  onEnd?.(cutter);
}

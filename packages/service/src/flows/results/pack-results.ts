import { JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';
import type { LineBatch } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { PackageError, type PackageErrorCode } from '@svc/pkg-format';
import { type LocatedResult, type ResultLineOptions, readResultLines } from '@svc/pkg-format/internal';
import { type ImportedResult, MAX_TEXT_CHARS, writeResult } from '@svc/store';

/** Lines of results to read. */
export interface ResultLines {
  readonly batch: LineBatch;
  readonly options: ResultLineOptions;
}

/** Results as they are stored, which pass between threads. */
export type PackedResults = readonly LocatedResult<Omit<ImportedResult, 'sectionOrderIndex'>>[];

/** An error of a line on its way between threads. */
export type LineFailure =
  | {
      readonly kind: 'jsonl';
      readonly code: JsonlErrorCode;
      readonly message: string;
      readonly location: SourceLocation;
    }
  | {
      readonly kind: 'package';
      readonly code: PackageErrorCode;
      readonly message: string;
      readonly location: SourceLocation;
    };

/**
 * Reads lines, and writes their values as they are stored. The result depends on the arguments alone.
 *
 * @throws as `readResultLines`
 */
export function packResults({ batch, options }: ResultLines): PackedResults {
  return readResultLines(batch, options).map(({ result, location }) => {
    return { location, result: writeResult(result, toText) };
  });
}

/** JSON text; a long one as its bytes, which pass to another thread and to the database without a copy. */
function toText(value: JsonValue): string | Uint8Array<ArrayBuffer> {
  const text = canonicalJson(value);
  return text.length > MAX_TEXT_CHARS ? new TextEncoder().encode(text) : text;
}

/** The buffers of long texts. */
export function buffersOf(results: PackedResults): ArrayBuffer[] {
  return results.flatMap(({ result }) =>
    Object.values(result).flatMap((value) =>
      value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [],
    ),
  );
}

/** Structured cloning loses classes, so an error of a line is sent as its members. Undefined for any other error. */
export function toLineFailure(error: unknown): LineFailure | undefined {
  if (error instanceof PackageError) {
    const { code, message, location } = error;
    return { kind: 'package', code, message, location };
  }
  if (!(error instanceof JsonlError)) return undefined;
  const { code, message, location } = error;
  return { kind: 'jsonl', code, message, location };
}

/** The error of a {@link LineFailure}. */
export function toLineError(failure: LineFailure): Error {
  const { message, location } = failure;
  if (failure.kind === 'jsonl') return new JsonlError(failure.code, message, location);
  const entry = location.file === undefined ? {} : { entry: location.file };
  return new PackageError(failure.code, message, { ...entry, location });
}

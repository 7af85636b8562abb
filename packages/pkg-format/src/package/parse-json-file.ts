import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { decodeUtf8 } from '../zip/entry-name.ts';

const LINE_FEED = 0x0a;

/**
 * Parses a JSON file of the archive, which must contain an object. Keeps every digit of its numbers; accepts a byte order
 * mark.
 *
 * @throws PackageError `package_invalid_json` with line, column and JSON Pointer
 */
export function parseJsonFile(bytes: Uint8Array, file: string, maxDepth: number): JsonObject {
  const value = parseJsonFileValue(bytes, file, maxDepth);
  if (!isJsonObject(value))
    throw invalid(`${quote(file)} does not contain a JSON object.`, { file, line: 1 });
  return value;
}

function parseJsonFileValue(bytes: Uint8Array, file: string, maxDepth: number): JsonValue {
  const decoded = decodeUtf8(bytes);
  if (decoded === null)
    throw invalid(`${quote(file)} is not UTF-8.`, { file, line: firstUndecodableLine(bytes) });
  const text = decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded;
  try {
    return parseJson(text, { maxDepth, location: { file } });
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    throw invalid(`Cannot parse ${quote(file)}: ${error.message}.`, error.location, error);
  }
}

function invalid(message: string, location: SourceLocation, cause?: unknown): PackageError {
  const { file: entry } = location;
  return new PackageError('package_invalid_json', message, {
    ...(entry !== undefined && { entry }),
    location,
    cause,
  });
}

/** A line feed is never part of a longer UTF-8 sequence, so each line can be decoded alone. */
function firstUndecodableLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start <= bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    const stop = end < 0 ? bytes.length : end;
    if (decodeUtf8(bytes.subarray(start, stop)) === null) return line;
    start = stop + 1;
  }
  return line;
}

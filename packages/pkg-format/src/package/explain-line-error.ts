import { JsonlError, type JsonlErrorCode } from '@svc/jsonl-v23';
import { toPackageError } from '../errors.ts';
import type { Archive } from './open-archive.ts';

/**
 * The error to report for an error of a line. A damaged file usually fails with an invalid line first, so this reads the
 * whole file and reports damage if there is any; otherwise it converts the error with `toPackageError`.
 */
export async function explainLineError(
  archive: Archive,
  error: unknown,
  file: string,
  signal?: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof JsonlError) || LIMITS.has(error.code)) return toPackageError(error, file);
  try {
    for await (const _ of archive.read(file, { uncounted: true, ...(signal && { signal }) }));
  } catch (damage) {
    return damage;
  }
  return toPackageError(error, file);
}

/** Beyond a limit, nothing more is read. */
const LIMITS: ReadonlySet<JsonlErrorCode> = new Set(['line_too_long', 'package_limit']);

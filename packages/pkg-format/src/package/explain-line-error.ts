import { JsonlError } from '@svc/jsonl-v23';
import { toPackageError } from '../errors.ts';
import type { Archive } from './open-archive.ts';

/**
 * The error to report for what a line of an archive's file failed with. A damaged file usually fails as a line first; so
 * the file is read through, and where it is damaged that is the error. Otherwise as `toPackageError`.
 */
export async function explainLineError(
  archive: Archive,
  error: unknown,
  file: string,
  signal?: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof JsonlError) || error.code === 'line_too_long') return toPackageError(error, file);
  try {
    for await (const _ of archive.read(file, { uncounted: true, ...(signal && { signal }) }));
  } catch (damage) {
    return damage;
  }
  return toPackageError(error, file);
}

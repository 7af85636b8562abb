import { PackageError } from '@svc/pkg-format';

/** Names the archive in an error that says nothing of its place: the archive as a whole is at fault. */
export function nameArchive(error: unknown, path: string): unknown {
  if (!(error instanceof PackageError) || error.place.file !== undefined) return error;
  return new PackageError(error.code, error.message, {
    place: { ...error.place, file: path },
    cause: error,
  });
}

import { PackageError } from '@svc/pkg-format';

/** Names the archive in an error that says nothing of its place: the archive as a whole is at fault. */
export function nameArchive(error: unknown, path: string): unknown {
  if (!(error instanceof PackageError) || error.location.file !== undefined) return error;
  return new PackageError(error.code, error.message, {
    location: { ...error.location, file: path },
    cause: error,
  });
}

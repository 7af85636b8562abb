import { type FileReference, JsonlError, type SourceLocation } from '@svc/jsonl-v23';

const MAX_PATH_LENGTH = 200;

/** The error of an item that refers to a file where no files come with the items, as they do in packages. */
export function missingFile(
  { path, pointer }: Pick<FileReference, 'path' | 'pointer'>,
  location: SourceLocation,
): JsonlError {
  const shown = JSON.stringify(path.slice(0, MAX_PATH_LENGTH));
  const message = `${pointer} must not refer to a file that only a package can hold, got ${shown}`;
  return new JsonlError('missing_file', message, { ...location, path: pointer });
}

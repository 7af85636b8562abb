import { CliError } from './cli-error.ts';

/** The operating system's error names in words (errno(3)). */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it already exists',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'disk quota exceeded',
  EFBIG: 'the file would be too large',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is in use',
  EIO: 'the device failed',
};

/** Whether the operating system reported an error. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && 'syscall' in error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code))
  );
}

/**
 * Does something with a file.
 *
 * @throws CliError `io_error` for an error of the operating system; what else `work` throws
 */
export async function withFileErrors<T>(
  action: 'read' | 'write',
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFileError(error, action, path);
  }
}

/** Turns an error of the operating system into `io_error`; returns any other error unchanged. */
export function toFileError(error: unknown, action: 'read' | 'write', path: string): unknown {
  if (!isSystemError(error)) return error;
  const name = String(error.code);
  const reason = REASONS[name];
  return new CliError('io_error', `Cannot ${action} the file: ${reason ?? name}`, {
    location: { file: path },
    cause: error,
  });
}

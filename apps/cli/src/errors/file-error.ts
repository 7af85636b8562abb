import { CliError } from './cli-error.ts';

/** What the operating system's error names mean to people (errno(3)). */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
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

/** Whether an error is one of the operating system's. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && 'syscall' in error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code))
  );
}

/** `io_error` for what a file operation failed with; anything but an error of the operating system as it is. */
export function toFileError(error: unknown, action: 'read' | 'written', path: string): unknown {
  if (!isSystemError(error)) return error;
  const name = String(error.code);
  const reason = REASONS[name];
  const why = reason === undefined ? name : `${reason} (${name})`;
  return new CliError('io_error', `Could not be ${action}: ${why}`, {
    location: { file: path },
    cause: error,
  });
}

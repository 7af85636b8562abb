import type { PackageError } from '../errors.ts';
import type { PackageReader } from '../package/package-reader.ts';
import { type CheckedPackage, inspectPackage } from './inspect-package.ts';

/**
 * Reads everything that an import reads, and the files of a run, and yields every error: invalid lines, missing and
 * damaged files, and differences from the manifest. Unlike reading, it continues after an error. Memory holds one item with
 * its files.
 *
 * @returns what could be read, with the version hash if there was no error
 * @throws errors of the file system, and the signal's reason
 * @example
 * const checking = checkPackage(pkg);
 * let next = await checking.next();
 * for (; !next.done; next = await checking.next()) console.log(formatLocation(next.value.location), next.value.message);
 * console.log(next.value.versionHash);
 */
export async function* checkPackage(
  pkg: PackageReader,
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<PackageError, CheckedPackage, undefined> {
  const events = inspectPackage(pkg, options);
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      if (next.value.kind === 'error') yield next.value.error;
    }
  } finally {
    await events.return({ sections: [], itemCount: 0, versionHash: null, unusedFiles: [] });
  }
}

import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { compareUtf8 } from '@svc/jsonl-v23/internal';
import { PackageError, quote } from '../../errors.ts';
import { isJunkFile, MANIFEST_FILE } from '../../package/layout.ts';
import { fileEntry, textEntry } from '../../write/plan-package.ts';
import { packagePlan } from '../../write/prepare-package.ts';
import { zipStream } from '../zip/zip-stream.ts';

/**
 * The files of a folder as an archive, except files that macOS adds. An empty manifest represents a missing one.
 *
 * @throws PackageError `package_unsafe_entry` for anything but a file or folder, such as a symbolic link; errors of
 *   the file system; the signal's reason
 */
export async function* zipFolder(folder: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    signal?.throwIfAborted();
    if (entry.isDirectory()) continue;
    const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/');
    if (isJunkFile(path)) continue;
    if (!entry.isFile()) {
      throw new PackageError('package_unsafe_entry', `${quote(path)} is neither a file nor a folder.`, {
        entry: path,
      });
    }
    paths.push(path);
  }
  const rest = paths.filter((path) => path !== MANIFEST_FILE).sort(compareUtf8);
  const hasManifest = rest.length < paths.length;
  const entries = [
    hasManifest ? fileEntry(MANIFEST_FILE, null) : textEntry(MANIFEST_FILE, '{}\n'),
    ...rest.map((path) => fileEntry(path, null)),
  ];
  const sources = new Map(paths.map((path) => [path, () => createReadStream(join(folder, path))]));
  yield* zipStream(async () => packagePlan(entries, sources), signal);
}

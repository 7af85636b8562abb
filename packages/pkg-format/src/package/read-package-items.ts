import { type LocatedItem, rehydrateItem } from '@svc/jsonl-v23';
import { parseLines, splitLines } from '@svc/jsonl-v23/internal';
import type { PackageReader, PackageSection } from './package-reader.ts';

/**
 * Reads the items of a section in order, each with its location, and embeds the files that they refer to. One batch of
 * lines is in memory at a time.
 *
 * @throws PackageError `package_invalid_line` with file, line, column and JSON Pointer; `package_limit`, also for an item
 *   that is longer than a line with its files; `package_corrupt`; for files, as `PackageReader.readFile`
 */
export async function* readPackageItems(
  pkg: PackageReader,
  section: PackageSection,
  options: { signal?: AbortSignal } = {},
): AsyncGenerator<LocatedItem> {
  const { file } = section;
  const { maxLineBytes, maxDepth } = pkg.limits;
  try {
    const batches = splitLines(section.bytes({ signal: options.signal }), { file, maxLineBytes, ...options });
    for await (const batch of batches) {
      for (const located of parseLines(batch, { file, maxDepth })) {
        options.signal?.throwIfAborted();
        yield await withFiles(pkg, located);
      }
    }
  } catch (error) {
    throw await pkg.explain(error, file, { signal: options.signal });
  }
}

async function withFiles(pkg: PackageReader, { item, location }: LocatedItem): Promise<LocatedItem> {
  const whole = await rehydrateItem(
    item,
    ({ path, pointer }) => pkg.readFile(path, { ...location, path: pointer }),
    { maxItemBytes: pkg.limits.maxLineBytes, location },
  );
  return { item: whole, location };
}

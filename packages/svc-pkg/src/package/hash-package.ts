import { createSectionHasher, type EncodedItem, encodeItem, HASH_SPEC, versionHash } from '@svc/jsonl-v23';
import { type CheckedSection, type PackageReader, type PackageRun, readPackageItems } from '@svc/pkg-format';
import { countOf, printableValue } from '../text/format.ts';

export interface HashedPackage {
  readonly sections: readonly CheckedSection[];
  readonly itemCount: number;
  readonly assetCount: number;
  /** Lower-case hex. */
  readonly versionHash: string;
}

/**
 * Reads a whole package as an import does: every line, every file that items refer to, and the hashes of the manifest.
 * Keeps one batch of lines and one item with its files in memory.
 *
 * @param onItem receives every item in its stored form
 * @throws PackageError
 */
export async function hashPackage(
  pkg: PackageReader,
  signal: AbortSignal,
  onItem: (encoded: EncodedItem) => void = () => {},
): Promise<HashedPackage> {
  const sections: CheckedSection[] = [];
  let itemCount = 0;
  let assetCount = 0;
  for (const section of pkg.sections) {
    const hasher = createSectionHasher(section.name);
    let sectionItems = 0;
    for await (const { item } of readPackageItems(pkg, section, { signal })) {
      signal.throwIfAborted();
      const encoded = encodeItem(item);
      hasher.add(encoded.itemHash);
      assetCount += encoded.assetCount;
      sectionItems += 1;
      onItem(encoded);
    }
    itemCount += sectionItems;
    const { name, file } = section;
    sections.push({
      name,
      file,
      orderIndex: section.orderIndex,
      itemCount: sectionItems,
      sectionHash: hasher.digest(),
    });
  }
  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  await pkg.verify({ sections, versionHash: hash }, { signal });
  return { sections, itemCount, assetCount, versionHash: hash };
}

/** The members that every command prints of a hashed package with `--json`. */
export function hashDocument(
  path: string,
  {
    sections,
    itemCount,
    versionHash,
  }: Pick<HashedPackage, 'sections' | 'itemCount'> & { readonly versionHash: string | null },
): Record<string, unknown> {
  return {
    package: path,
    hash_spec: HASH_SPEC,
    version_hash: versionHash,
    item_count: itemCount,
    section_count: sections.length,
    sections: sections.map((section) => ({
      name: section.name,
      file: section.file,
      order_index: section.orderIndex,
      item_count: section.itemCount,
      section_hash: Buffer.from(section.sectionHash).toString('hex'),
    })),
  };
}

/** The run that a package holds, in short. */
export interface RunFacts extends Pick<PackageRun, 'id' | 'name' | 'status'> {
  readonly resultCount: number;
}

/**
 * Reads the run of a package with all its results; null if there is none.
 *
 * @param sections all sections of the package
 * @throws PackageError
 */
export async function readRunFacts(
  pkg: PackageReader,
  sections: Parameters<PackageRun['results']>[0],
  signal: AbortSignal,
): Promise<RunFacts | null> {
  const run = await pkg.readRun({ signal });
  if (run === null) return null;
  let resultCount = 0;
  for await (const batch of run.results(sections, { signal })) resultCount += batch.length;
  const { id, name, status } = run;
  return { id, name, status, resultCount };
}

/** One line for people. */
export function runText({ id, name, status, resultCount }: RunFacts): string {
  const title = name ?? id;
  return `${title === null ? '' : `${printableValue(title)}, `}${status}, ${countOf(resultCount, 'result')}`;
}

/** The facts for machines. */
export function runDocument({ id, name, status, resultCount }: RunFacts): Record<string, unknown> {
  return { id, name, status, result_count: resultCount };
}

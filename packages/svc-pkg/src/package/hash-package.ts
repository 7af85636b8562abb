import { createSectionHasher, type EncodedItem, encodeItem, HASH_SPEC, versionHash } from '@svc/jsonl-v23';
import { type CheckedSection, type PackageReader, readPackageItems } from '@svc/pkg-format';

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

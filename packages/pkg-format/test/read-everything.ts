import { createSectionHasher, type Item, itemHash, versionHash } from '@svc/jsonl-v23';
import type { PackageReader, PackageResult } from '../src/index.ts';
import { readPackageItems } from '../src/index.ts';

export interface EverythingRead {
  sections: { name: string; items: Item[] }[];
  ignored: readonly string[];
  /** The results of the run; null without one. */
  results: PackageResult[] | null;
  versionHash: string;
}

/** Reads a package as an import does: every section, every referenced file, what the manifest states, then the run. */
export async function readEverything(pkg: PackageReader): Promise<EverythingRead> {
  const sections: EverythingRead['sections'] = [];
  const found: { name: string; sectionHash: Uint8Array; itemCount: number }[] = [];
  for (const section of pkg.sections) {
    const items: Item[] = [];
    const hasher = createSectionHasher(section.name);
    for await (const { item } of readPackageItems(pkg, section)) {
      items.push(item);
      hasher.add(itemHash(item));
    }
    sections.push({ name: section.name, items });
    found.push({ name: section.name, sectionHash: hasher.digest(), itemCount: items.length });
  }
  const hash = versionHash(found.map(({ sectionHash }) => sectionHash));
  await pkg.verify({ sections: found, versionHash: hash });
  const run = await pkg.readRun();
  const counted = found.map(({ name, itemCount }) => ({ name, itemCount }));
  const results = run === null ? null : (await Array.fromAsync(run.results(counted))).flat();
  return { sections, ignored: pkg.ignoredEntries, results, versionHash: hash };
}

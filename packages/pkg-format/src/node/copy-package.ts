import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { canonicalJson, getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { type CheckedPackage, checkPackage } from '../check-package.ts';
import { ErrorList } from '../errors.ts';
import type { ConversionReport } from '../legacy/upgrade-item.ts';
import {
  type Archive,
  ASSETS_FOLDER,
  CHECKERS_FOLDER,
  checkDatasetName,
  generatorMembers,
  MANIFEST_FILE,
  META_FILE,
  type PackageGenerator,
  RUN_FILES,
} from '../package/layout.ts';
import { type PackageReader, readPackage } from '../package/package-reader.ts';
import { fileEntry, textEntry } from '../write/plan-package.ts';
import { type PackagePlan, packagePlan } from '../write/prepare-package.ts';

export interface Conversion {
  readonly plan: PackagePlan;
  readonly report: Omit<ConversionReport, 'output'>;
}

/** Verifies the package first, so that a broken one is not copied; then only generator and name may change. */
export async function copyPackage(
  archive: Archive,
  givenName: string | null,
  generator: PackageGenerator | undefined,
  signal?: AbortSignal,
): Promise<Conversion> {
  const pkg = await readPackage(archive);
  const found = await checkWhole(pkg, signal);

  const stamped: JsonObject = {
    ...pkg.manifest,
    ...generatorMembers(generator),
  };
  if (givenName !== null) {
    checkDatasetName(givenName);
    stamped['name'] = givenName;
  }
  const name = getMember(stamped, 'name');
  const { paths, sources } = copiedFiles(archive, pkg);
  const entries = [
    textEntry(MANIFEST_FILE, `${canonicalJson(stamped)}\n`),
    ...paths.map((path) => fileEntry(path, null)),
  ];
  return {
    plan: packagePlan(entries, sources),
    report: {
      name: typeof name === 'string' ? name : '',
      versionHash: found.versionHash ?? '',
      itemCount: found.itemCount,
      sections: pkg.sections.map(({ name, file }, index) => ({
        name,
        from: file,
        itemCount: found.sections[index]?.itemCount ?? 0,
      })),
      fileCount: paths.filter((path) => path.startsWith(ASSETS_FOLDER) || path.startsWith(CHECKERS_FOLDER))
        .length,
      changes: [],
      carried: [...pkg.ignoredEntries],
      alreadyNew: true,
    },
  };
}

export async function checkWhole(pkg: PackageReader, signal?: AbortSignal): Promise<CheckedPackage> {
  const errors = new ErrorList();
  const checking = checkPackage(pkg, { signal });
  for (;;) {
    const next = await checking.next();
    if (!next.done) errors.add(next.value);
    else {
      errors.throwIfAny();
      return next.value;
    }
  }
}

/** All files but the manifest, in the order of package-format section 3, then other files; and how to read them. */
export function copiedFiles(
  { files, read }: Archive,
  { sections }: PackageReader,
): { readonly paths: readonly string[]; readonly sources: Map<string, () => AsyncIterable<Uint8Array>> } {
  const sectionFiles = sections.map(({ file }) => file);
  const first = [META_FILE, ...RUN_FILES].filter((path) => files.has(path));
  const known = new Set([MANIFEST_FILE, ...first, ...sectionFiles]);
  const rest = [...files.keys()].filter((path) => !known.has(path)).sort(compareUtf8);
  const under = (folder: string) => rest.filter((path) => path.startsWith(folder));
  const others = rest.filter((path) => !path.startsWith(ASSETS_FOLDER) && !path.startsWith(CHECKERS_FOLDER));
  const paths = [...first, ...sectionFiles, ...under(ASSETS_FOLDER), ...under(CHECKERS_FOLDER), ...others];
  return { paths, sources: new Map(paths.map((path) => [path, () => read(path, { uncounted: true })])) };
}

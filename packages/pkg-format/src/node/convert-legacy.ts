import { dirname, join } from 'node:path';
import {
  createSectionHasher,
  encodeItem,
  type FileReference,
  isDatasetName,
  JsonlError,
  joinItem,
  parseItem,
  rehydrateItem,
  type SourceLocation,
  toDatasetName,
  versionHash,
} from '@svc/jsonl-v23';
import { checkItemSize } from '@svc/jsonl-v23/assets';
import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { DEFAULT_IMPORT_LIMITS, ImportMeter } from '@svc/jsonl-v23/imports';
import { canonicalJson, getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PlainLineCollector } from '@svc/jsonl-v23/lines';
import { ErrorList, missingFile, PackageError, toPackageError } from '../errors.ts';
import {
  type LegacyItem,
  locateInSource,
  Peekable,
  readLegacyItems,
  type UpgradedLines,
} from '../legacy/legacy-items.ts';
import {
  createReferenceResolver,
  findLegacySources,
  groupBy,
  type LegacySection,
} from '../legacy/legacy-sources.ts';
import {
  ChangeCounter,
  type ConversionReport,
  datasetPrompts,
  LEGACY_KEYS,
  type UpgradedItem,
  upgradeItem,
} from '../legacy/upgrade-item.ts';
import {
  type Archive,
  checkDatasetName,
  isPackageManifest,
  MANIFEST_FILE,
  META_FILE,
  type PackageGenerator,
  RESULTS_FILE,
  RUN_CONFIG_FILE,
} from '../package/layout.ts';
import { sanitiseRunConfig } from '../secrets/sanitise-run-config.ts';
import { linesToBytes } from '../write/lines-to-bytes.ts';
import {
  type NamedFile,
  type PackageContent,
  planPackage,
  type RunContent,
  sectionPaths,
} from '../write/plan-package.ts';
import { packagePlan } from '../write/prepare-package.ts';
import { digestOf, type PackedBytes } from '../write/scan-dataset.ts';
import { foldName } from '../zip/read-directory.ts';
import { type Conversion, copyPackage } from './copy-package.ts';
import { type OnRead, withArchiveFile } from './file-source.ts';
import { LegacyContents } from './legacy-contents.ts';
import type { SealOptions } from './seal/seal-package-file.ts';
import type { MakeRoom, PackedFile, TempDir } from './temp-dir.ts';
import { archiveName, writeOutput, writeWhole } from './write-output.ts';
import { zipStream } from './zip/zip-stream.ts';

interface ConvertedSection {
  readonly source: LegacySection;
  readonly itemCount: number;
  readonly sectionHash: Uint8Array;
  readonly file: PackedFile;
}

/** Package-format section 4. Continues after errors; limits sizes, because each item holds the dataset's prompts. */
async function convertLegacy(
  archive: Archive,
  tempDir: TempDir,
  facts: { given: string | null; fallback: string; generator: PackageGenerator | undefined },
  signal?: AbortSignal,
): Promise<Conversion> {
  if (facts.given !== null) checkDatasetName(facts.given);
  const errors = new ErrorList();
  const { sections, leftovers } = await findLegacySources(archive, errors, signal);
  const manifest = await readBlob(archive, MANIFEST_FILE, leftovers, errors);
  const meta = await readBlob(archive, META_FILE, leftovers, errors);
  const contents = new LegacyContents(archive, tempDir.contents);
  const changes = new ChangeCounter();
  const meter = new ImportMeter({ ...DEFAULT_IMPORT_LIMITS, ...archive.limits });
  meter.setFileBytes(archive.byteLength);

  const resolveReference = createReferenceResolver(archive.files);
  const bySource = new Map<LegacySection, ConvertedSection>();
  // JSON Lines come first: a JSON file that their items refer to is an asset, whatever its content.
  const files = groupBy(sections, ({ file }) => file);
  const order = Array.from(files, ([file, sources]) => ({
    file,
    sources,
    kind: sources[0]?.kind ?? 'jsonl',
  }));
  order.sort((a, b) => Number(a.kind === 'json') - Number(b.kind === 'json'));
  for (const { file, sources, kind } of order) {
    if (kind === 'json' && contents.used.has(file)) continue;
    const promptsOf = ({ blobs }: LegacySection) => datasetPrompts([...blobs, meta, manifest]);
    const keepsLines = sources.every((source) => promptsOf(source).areNone);
    const plain = keepsLines ? new PlainLineCollector(LEGACY_KEYS) : null;
    await using items = new Peekable(readLegacyItems<UpgradedLines>(archive, file, kind, signal, plain));
    for (const source of sources) {
      const prompts = promptsOf(source);
      const upgrade = (item: JsonObject, location: SourceLocation): UpgradedItem => {
        const resolveFile = (reference: string) => resolveReference(reference, file);
        const upgraded = upgradeItem(item, { section: source.name, prompts, location, resolveFile });
        for (const change of upgraded.changes) changes.add(change, location);
        return upgraded;
      };
      const deps = { archive, contents, tempDir, errors, meter };
      const section = await convertSection(source, items, upgrade, deps);
      // The rest of the file cannot be read.
      if (section === null) break;
      bySource.set(source, section);
    }
  }
  errors.throwIfAny();
  const converted = sections.flatMap((source) => bySource.get(source) ?? []);
  if (converted.length === 0)
    throw new PackageError('package_no_sections', 'The archive has no file with items.');

  const taken = contents.list();
  const carried = await carriedFiles(archive, converted, contents, taken, signal);
  const content: PackageContent = {
    generator: facts.generator,
    name: facts.given ?? nameOf(manifest) ?? nameOf(meta) ?? toDatasetName(facts.fallback, 'package'),
    description: textOf(meta, 'description') ?? textOf(manifest, 'description'),
    notes: textOf(meta, 'notes') ?? textOf(manifest, 'notes'),
    schema: canonicalJson(provenance(manifest, meta, leftovers)),
    versionHash: versionHash(converted.map(({ sectionHash }) => sectionHash)),
    sections: converted.map(({ source, ...section }) => ({ name: source.name, ...section })),
    files: [...taken, ...carried.files],
    run: await readRun(archive, signal),
  };

  const sources = new Map<string, () => AsyncIterable<Uint8Array>>(carried.sources);
  sources.set(RESULTS_FILE, () => archive.read(RESULTS_FILE, { uncounted: true }));
  const paths = sectionPaths(content.sections.map(({ name }) => name));
  const packed = new Map<string, PackedBytes>();
  for (const [index, { file }] of converted.entries()) packed.set(paths[index] ?? '', file);
  for (const { path, read, kept } of taken) {
    sources.set(path, read);
    if (kept !== null) packed.set(path, kept);
  }
  return {
    plan: packagePlan(planPackage(content), sources, 0, packed),
    report: {
      name: content.name,
      versionHash: content.versionHash,
      itemCount: converted.reduce((sum, { itemCount }) => sum + itemCount, 0),
      sections: converted.map(({ source, itemCount }) => ({
        name: source.name,
        from: source.file,
        itemCount,
      })),
      fileCount: taken.length,
      changes: changes.list(),
      carried: carried.files.map(({ path }) => path),
      alreadyNew: false,
    },
  };
}

interface SectionDeps {
  readonly archive: Archive;
  readonly contents: LegacyContents;
  readonly tempDir: TempDir;
  readonly errors: ErrorList;
  readonly meter: ImportMeter;
}

/** Converts the items of a section, or finds their errors; null if its file cannot be read to the end. */
async function convertSection(
  source: LegacySection,
  items: Peekable<LegacyItem | UpgradedLines>,
  upgrade: (item: JsonObject, location: SourceLocation) => UpgradedItem,
  { archive, contents, tempDir, errors, meter }: SectionDeps,
): Promise<ConvertedSection | null> {
  const hasher = createSectionHasher(source.name);
  const { maxLineBytes: maxItemBytes } = archive.limits;
  let itemCount = 0;
  async function* lines(): AsyncGenerator<[string | Uint8Array]> {
    for (let next = await items.peek(); next?.section === source.index; next = await items.peek()) {
      items.take();
      if ('lines' in next) {
        const { bytes } = next.lines;
        meter.addRows(next.lines.itemCount, { file: source.file });
        meter.addItems({ bytes: bytes.byteLength }, { file: source.file });
        hasher.add(next.lines.itemHashes);
        itemCount += next.lines.itemCount;
        if (errors.total === 0) yield [bytes];
        continue;
      }
      meter.addRows(1, next.location);
      const line = await lineOf(next).catch((error: unknown) => errors.add(error));
      if (line !== undefined) meter.addItems({ bytes: Buffer.byteLength(line) }, next.location);
      // After an error, nothing is written, but further items are checked.
      if (line !== undefined && errors.total === 0) yield [line];
      itemCount += 1;
    }
  }
  async function lineOf(next: LegacyItem): Promise<string> {
    if (next.item instanceof PackageError) throw next.item;
    try {
      return await convertItem(next.item, next.location);
    } catch (error) {
      throw errorInFile(error, next, source.file);
    }
  }
  async function convertItem(legacy: JsonObject, location: SourceLocation): Promise<string> {
    const upgraded = upgrade(legacy, location);
    const embedded = await contents.embed(upgraded.item, upgraded.files, location);
    const readFile = ({ path, pointer }: FileReference): Promise<Uint8Array> => {
      if (!archive.files.has(path)) throw missingFile(path, { ...location, path: pointer });
      return contents.read(path);
    };
    const item = await rehydrateItem(parseItem(embedded, location), readFile, { maxItemBytes, location });
    const encoded = encodeItem(item);
    // Otherwise the reader would refuse the package: base64 text is longer than the content.
    checkItemSize(encoded.byteLength, 0, { maxItemBytes, location });
    hasher.add(encoded.itemHash);
    return joinItem(await contents.externalize(encoded, upgraded.files));
  }
  try {
    const file = await tempDir.writePacked(linesToBytes(lines()));
    return { source, itemCount, sectionHash: hasher.digest(), file };
  } catch (error) {
    const found = toPackageError(error, source.file);
    if (error instanceof JsonlError && error.code === 'package_limit') throw found;
    if (found instanceof PackageError && found.code === 'package_corrupt') errors.damaged(found);
    else errors.add(found);
    return null;
  }
}

/** Further errors have the line but no column: to look for each would read a long item a hundred times. */
function errorInFile(error: unknown, legacy: LegacyItem, file: string): unknown {
  const found = toPackageError(error, file);
  if (!(found instanceof PackageError) || found.location.file !== file) return found;
  const { path } = found.location;
  const first = withLocation(found, path === undefined ? {} : locateInSource(legacy, path));
  const [, ...others] = found.errors;
  if (others.length === 0) return first;
  const { path: pointer = '' } = legacy.source.location;
  const rest = others.map((one) => withLocation(one, { path: `${pointer}${one.location.path ?? ''}` }));
  return withLocation(first, {}, { errors: [first, ...rest], errorsTotal: found.errorsTotal });
}

type AllErrors = Pick<PackageError, 'errors' | 'errorsTotal'>;

function withLocation(cause: PackageError, more: SourceLocation, all?: AllErrors): PackageError {
  const { code, message, entry, location } = cause;
  return new PackageError(code, message, {
    entry,
    location: { ...location, ...more },
    cause,
    ...all,
  });
}

async function readBlob(
  archive: Archive,
  file: string,
  leftovers: ReadonlyMap<string, JsonObject>,
  errors: ErrorList,
): Promise<JsonObject | null> {
  // The items of this file are sections now.
  const leftover = leftovers.get(file);
  if (leftover !== undefined || errors.has(file)) return leftover ?? null;
  return (await archive.readJsonObject(file).catch((error: unknown) => errors.add(error))) ?? null;
}

/** The original metadata, and members of JSON files besides their items. */
function provenance(
  manifest: JsonObject | null,
  meta: JsonObject | null,
  leftovers: ReadonlyMap<string, JsonObject>,
): JsonObject {
  const files: [string, JsonValue][] = [...leftovers].filter(
    ([file]) => file !== MANIFEST_FILE && file !== META_FILE,
  );
  const held = files.length > 0 ? { files: Object.fromEntries(files) } : {};
  return { source: 'pkg_zip', package: { manifest, meta, ...held } };
}

function nameOf(blob: JsonObject | null): string | null {
  const name = textOf(blob, 'name');
  return isDatasetName(name) ? name : null;
}

function textOf(blob: JsonObject | null, key: string): string | null {
  const value = blob ? getMember(blob, key) : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** The run of the archive, without the secrets in its configuration. */
async function readRun(archive: Archive, signal?: AbortSignal): Promise<RunContent | null> {
  const config = await archive.readJsonObject(RUN_CONFIG_FILE);
  const hasResults = archive.files.has(RESULTS_FILE);
  const results = hasResults ? await digestOf(archive.read(RESULTS_FILE, { signal })) : null;
  if (!config && !results) return null;
  const text = config && `${canonicalJson(sanitiseRunConfig(config))}\n`;
  return { config: text, results, manifest: null, meta: null };
}

/** Copies all other files, into `legacy/` if the package has one at the path: no file of the archive is lost. */
async function carriedFiles(
  archive: Archive,
  converted: readonly ConvertedSection[],
  contents: LegacyContents,
  taken: readonly NamedFile[],
  signal?: AbortSignal,
) {
  const gone = new Set([MANIFEST_FILE, META_FILE, RUN_CONFIG_FILE, RESULTS_FILE, ...contents.used]);
  for (const { source } of converted) gone.add(source.file);
  const paths = [
    ...gone,
    ...taken.map(({ path }) => path),
    ...sectionPaths(converted.map(({ source }) => source.name)),
  ];
  const names = new Set(paths.map(foldName));
  const files: NamedFile[] = [];
  const sources: [string, () => AsyncIterable<Uint8Array>][] = [];
  for (const file of [...archive.files.keys()].sort(compareUtf8)) {
    if (gone.has(file)) continue;
    let path = file;
    while (names.has(foldName(path))) path = `legacy/${path}`;
    names.add(foldName(path));
    files.push({ path, ...(await digestOf(archive.read(file, { signal }))) });
    sources.push([path, () => archive.read(file, { uncounted: true })]);
  }
  return { files, sources };
}

/** Options of `convertLegacyFile`. */
export interface ConvertOptions extends SealOptions {
  /** The name of the dataset; by default the name in the archive, or else `fallbackName`. */
  readonly name?: string | undefined;
  /** The name of the dataset if the archive has none; by default the name of the file without its extension. */
  readonly fallbackName?: string;
  /** The file to write; by default `legacyOutputPath(input)`. */
  readonly output?: string | undefined;
  /** Receives the progress. Files that are read twice keep it at the end for a while. */
  readonly onRead?: OnRead;
  /**
   * Called before bytes are written to the disk, with the size that the output and the temporary files will then have
   * together. The conversion waits for it; what it throws ends the conversion.
   */
  readonly makeRoom?: MakeRoom;
}

/**
 * Converts a legacy archive to a package (package-format section 4). The output appears when it is complete; until then
 * a hidden folder next to it has the temporary files. Memory does not grow with the archive. The same input gives the same
 * output.
 *
 * @throws PackageError with entry and location for an invalid archive; errors of the file system, `EEXIST` if the output
 *   exists and `force` is not set; the signal's reason
 * @example
 * const report = await convertLegacyFile('old.zip');
 * console.log(report.output, report.itemCount); // old.pkg.zip 1319
 */
export async function convertLegacyFile(
  input: string,
  options: ConvertOptions = {},
): Promise<ConversionReport> {
  const { force = false, fallbackName = archiveName(input), limits, signal } = options;
  const { generator, onRead, makeRoom } = options;
  const name = options.name ?? null;
  const target = options.output ?? legacyOutputPath(input);
  return await writeOutput(target, { force, makeRoom }, (temporary, tempDir) =>
    withArchiveFile(input, { limits, onRead }, async (archive) => {
      const { plan, report } = (await isPackage(archive))
        ? await copyPackage(archive, name, generator, signal)
        : await convertLegacy(archive, tempDir, { given: name, fallback: fallbackName, generator }, signal);
      await writeWhole(temporary, tempDir.withRoom(zipStream(async () => plan, signal)));
      return { output: target, ...report };
    }),
  );
}

/** Whether the archive says that it is a package; a manifest that cannot be parsed does not, and its error comes later. */
async function isPackage(archive: Archive): Promise<boolean> {
  try {
    return isPackageManifest(await archive.readJsonObject(MANIFEST_FILE));
  } catch (error) {
    if (error instanceof PackageError && error.code === 'package_invalid_json') return false;
    throw error;
  }
}

/** The default output: `data/old.pkg.zip` for `data/old.zip`. */
export function legacyOutputPath(input: string): string {
  return join(dirname(input), `${archiveName(input)}.pkg.zip`);
}

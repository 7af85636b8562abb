import { createSectionHasher, encodeItem, HASH_SPEC, type Item, versionHash } from '@svc/jsonl-v23';
import { getMember, type JsonObject, jsonText } from '@svc/jsonl-v23/json';
import { parseLines, splitLines } from '@svc/jsonl-v23/lines';
import {
  type CheckedPackage,
  type CheckedSection,
  type PackageReader,
  type PackageRun,
  readPackageItems,
} from '@svc/pkg-format';
import type { Cli } from '../cli-context.ts';
import { eachPath, printResult } from '../output/print.ts';
import { withLocalPackage } from '../package/input-file.ts';
import { countOf, formatFacts, printableValue, sampleText } from '../text/format.ts';
import { count, operation, withDefault } from './define-operation.ts';

const MAX_LISTED = 100;

export const inspect = operation({
  summary: 'show the contents of a package',
  description: 'Reads a whole package and shows its sections, counts, version hash and first items.',
  arguments: { path: ['<package>', 'a .pkg.zip file, - for standard input'] },
  options: { samples: withDefault(count('--samples <count>', 'how many items to show', 0, 100), 3) },
  service: false,
  examples: ['svc-pkg inspect gsm8k.pkg.zip', 'svc-pkg inspect --samples 0 --json gsm8k.pkg.zip'],
  async run({ path, samples }, cli) {
    const inspected = await inspectFile(cli, path, samples);
    await printResult(cli, {
      text: () => inspectionText(path, inspected),
      json: () => jsonText(inspectionDocument(path, inspected)),
    });
  },
});

export const hash = operation({
  summary: 'print the version hash of packages',
  description:
    'Computes the version hash from the items of a package, whatever its manifest says; where the manifest states ' +
    'another one, that is an error. The same hash names the dataset in a service.',
  arguments: { paths: ['<packages...>', '.pkg.zip files, - for standard input'] },
  service: false,
  examples: ['svc-pkg hash gsm8k.pkg.zip', 'svc-pkg hash *.pkg.zip'],
  async run({ paths }, cli) {
    await eachPath(cli, paths, async (out, path) => {
      const hashed = await withLocalPackage(cli, path, (pkg) => hashPackage(pkg, cli.signal));
      await printResult(out, {
        text: () => `${hashed.versionHash}${paths.length === 1 ? '' : `  ${path}`}\n`,
        json: () => jsonText(hashDocument(path, hashed)),
      });
    });
  },
});

/**
 * Reads a whole package as an import does: every line, every file that items refer to, and the manifest's hashes. Keeps one
 * batch of lines and one item with its files in memory.
 */
async function hashPackage(pkg: PackageReader, signal: AbortSignal) {
  const sections: CheckedSection[] = [];
  const types = new Map<string, number>();
  let assetCount = 0;
  for (const section of pkg.sections) {
    const { name, file, orderIndex } = section;
    const hasher = createSectionHasher(name);
    let itemCount = 0;
    for await (const { item } of readPackageItems(pkg, section, { signal })) {
      signal.throwIfAborted();
      const encoded = encodeItem(item);
      hasher.add(encoded.itemHash);
      assetCount += encoded.assetCount;
      itemCount += 1;
      countType(types, encoded.type);
    }
    sections.push({ name, file, orderIndex, itemCount, sectionHash: hasher.digest() });
  }
  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  await pkg.verify({ sections, versionHash: hash }, { signal });
  const itemCount = sections.reduce((sum, section) => sum + section.itemCount, 0);
  return { sections, itemCount, assetCount, types, versionHash: hash };
}

/** The members that every command prints of a package with `--json`. */
export const hashDocument = (
  path: string,
  { sections, itemCount, versionHash }: Pick<CheckedPackage, 'sections' | 'itemCount' | 'versionHash'>,
) => ({
  package: path,
  hash_spec: HASH_SPEC,
  version_hash: versionHash,
  item_count: itemCount,
  section_count: sections.length,
  sections: sections.map((section) => ({
    ...{ name: section.name, file: section.file, order_index: section.orderIndex },
    item_count: section.itemCount,
    section_hash: Buffer.from(section.sectionHash).toString('hex'),
  })),
});

/** The run that a package holds, in short, as `--json` prints it. */
export interface RunFacts extends Pick<PackageRun, 'id' | 'name' | 'status'> {
  readonly result_count: number;
}

/** Reads the run of a package with all its results; null if there is none. @throws PackageError */
export async function readRunFacts(
  pkg: PackageReader,
  sections: Parameters<PackageRun['results']>[0],
  signal: AbortSignal,
): Promise<RunFacts | null> {
  const run = await pkg.readRun({ signal });
  if (run === null) return null;
  let result_count = 0;
  for await (const batch of run.results(sections, { signal })) result_count += batch.length;
  const { id, name, status } = run;
  return { id, name, status, result_count };
}

export function runText({ id, name, status, result_count: count }: RunFacts): string {
  const title = name ?? id;
  return `${title === null ? '' : `${printableValue(title)}, `}${status}, ${countOf(count, 'result')}`;
}

async function inspectFile(cli: Cli, path: string, sampleCount: number) {
  return await withLocalPackage(cli, path, async (pkg) => {
    const samples = await sampleItems(pkg, sampleCount, cli.signal);
    const hashed = await hashPackage(pkg, cli.signal);
    return { ...hashed, pkg, samples, run: await readRunFacts(pkg, hashed.sections, cli.signal) };
  });
}

type Inspected = Awaited<ReturnType<typeof inspectFile>>;

/** Types are free text: counts everything beyond a thousand types as one. */
function countType(types: Map<string, number>, type: string): void {
  const known = types.has(type) || types.size < 1000 ? type : '(others)';
  types.set(known, (types.get(known) ?? 0) + 1);
}

/** Name and description as an import would use them. */
function describe(pkg: Inspected['pkg']): { name: string | null; description: string | null } {
  return { name: textOf(pkg.manifest, 'name'), description: textOf(pkg.meta, 'description') };
}

function textOf(object: JsonObject | null, key: string): string | null {
  const value = object === null ? undefined : getMember(object, key);
  return typeof value === 'string' ? value : null;
}

function inspectionText(path: string, inspected: Inspected): string {
  const { pkg, types, samples } = inspected;
  const { name, description } = describe(pkg);
  const generator = [textOf(pkg.manifest, 'generator'), textOf(pkg.manifest, 'generator_version')];
  const facts = formatFacts([
    ['package', path],
    ['name', name && printableValue(name)],
    ['description', description && printableValue(description)],
    ['written by', printableValue(generator.filter((part) => part !== null).join(' '))],
    ['version hash', inspected.versionHash],
    ['items', `${inspected.itemCount} in ${countOf(inspected.sections.length, 'section')}`],
    ['assets', inspected.assetCount],
    ['run', inspected.run && runText(inspected.run)],
    ['types', listed([...types].map(([type, count]) => `${count} ${printableValue(type)}`))],
    ['ignored', listed(pkg.ignoredEntries.map(printableValue))],
  ]);
  const sections = inspected.sections
    .slice(0, MAX_LISTED)
    .map((section) => [section.name, section.itemCount] as const);
  const more = inspected.sections.length - sections.length;
  const lines = [
    facts,
    `\nsections\n`,
    formatFacts(sections.map(([section, count]) => [`  ${printableValue(section)}`, countOf(count, 'item')])),
    ...(more > 0 ? [`  ... and ${more} more\n`] : []),
    ...(samples.length > 0 ? ['\nfirst items\n'] : []),
    ...samples.map(
      ({ section, order_index: index, item }) =>
        `  ${printableValue(section)} ${index}\n${sampleText(item, '    ')}`,
    ),
  ];
  return lines.join('');
}

function inspectionDocument(path: string, inspected: Inspected): Record<string, unknown> {
  const { pkg, types, samples } = inspected;
  return {
    ...hashDocument(path, inspected),
    ...describe(pkg),
    asset_count: inspected.assetCount,
    run: inspected.run,
    types: Object.fromEntries(types),
    ignored_entries: pkg.ignoredEntries,
    manifest: pkg.manifest,
    meta: pkg.meta,
    samples,
  };
}

function listed(values: readonly string[]): string {
  const more = values.length - MAX_LISTED;
  return `${values.slice(0, MAX_LISTED).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** The first items as they are in the package, with the names of their files. Reads only their lines. */
async function sampleItems(pkg: PackageReader, count: number, signal: AbortSignal) {
  const samples: { readonly section: string; readonly order_index: number; readonly item: Item }[] = [];
  const { maxLineBytes, maxDepth } = pkg.limits;
  for (const section of pkg.sections) {
    if (samples.length >= count) break;
    const { file, name } = section;
    const before = samples.length;
    try {
      for await (const batch of splitLines(section.bytes({ signal }), { file, maxLineBytes, signal })) {
        for (const { item } of parseLines(batch, { file, maxDepth }))
          samples.push({ section: name, order_index: samples.length - before, item });
        if (samples.length >= count) break;
      }
    } catch (error) {
      throw await pkg.explain(error, file, { signal });
    }
  }
  return samples.slice(0, count);
}

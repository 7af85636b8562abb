import { jsonText } from '@svc/jsonl-v23/internal';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import type { PackageReader } from '@svc/pkg-format';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { printResult } from '../output/print.ts';
import { type HashedPackage, hashDocument, hashPackage } from '../package/hash-package.ts';
import { withLocalPackage } from '../package/open-local-package.ts';
import { type RunFacts, readRunFacts, runDocument, runText } from '../package/run-facts.ts';
import { type SampleItem, sampleItems } from '../package/sample-items.ts';
import { countOf, formatFacts, printableValue } from '../text/format.ts';
import { sampleText } from '../text/sample-text.ts';
import { countOption, withExamples } from './define-command.ts';

/** Text for people lists this many sections and types, and counts the rest. */
const MAX_LISTED = 100;

/** `inspect`: shows the contents of a package. */
export function addInspectCommand(program: Command, cli: Cli): void {
  const command = program
    .command('inspect')
    .summary('show the contents of a package')
    .description('Reads a whole package and shows its sections, counts, version hash and first items.')
    .argument('<package>', 'a .pkg.zip file, - for standard input')
    .addOption(countOption('--samples <count>', 'how many items to show', 0, 100, 3))
    .action(async (path: string, options: { samples: number }) => {
      const inspected = await inspectFile(cli, path, options.samples);
      await printResult(cli, {
        text: () => inspectionText(path, inspected),
        json: () => jsonText(inspectionDocument(path, inspected)),
      });
    });
  withExamples(command, [
    'svc-pkg inspect gsm8k.pkg.zip',
    'svc-pkg inspect --samples 0 --json gsm8k.pkg.zip',
  ]);
}

interface Inspected extends HashedPackage {
  readonly pkg: Pick<PackageReader, 'manifest' | 'meta' | 'ignoredEntries'>;
  readonly types: ReadonlyMap<string, number>;
  readonly samples: readonly SampleItem[];
  /** Null if the package holds no run. */
  readonly run: RunFacts | null;
}

async function inspectFile(cli: Cli, path: string, sampleCount: number): Promise<Inspected> {
  return await withLocalPackage(cli, path, async (pkg) => {
    const samples = await sampleItems(pkg, sampleCount, cli.signal);
    const types = new Map<string, number>();
    const hashed = await hashPackage(pkg, cli.signal, ({ type }) => countType(types, type));
    const run = await readRunFacts(pkg, hashed.sections, cli.signal);
    return { ...hashed, pkg, types, samples, run };
  });
}

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
      ({ section, orderIndex, item }) =>
        `  ${printableValue(section)} ${orderIndex}\n${sampleText(item, '    ')}`,
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
    run: inspected.run && runDocument(inspected.run),
    types: Object.fromEntries(types),
    ignored_entries: pkg.ignoredEntries,
    manifest: pkg.manifest,
    meta: pkg.meta,
    samples: samples.map(({ section, orderIndex, item }) => ({ section, order_index: orderIndex, item })),
  };
}

function listed(values: readonly string[]): string {
  const more = values.length - MAX_LISTED;
  return `${values.slice(0, MAX_LISTED).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

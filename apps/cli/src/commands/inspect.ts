import { getMember, type JsonObject } from '@svc/jsonl-v23';
import type { PackageReader } from '@svc/pkg-format';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { countOf, formatFacts } from '../format-facts.ts';
import { type HashedPackage, hashDocument, hashPackage } from '../package/hash-package.ts';
import { openLocalPackage } from '../package/open-local-package.ts';
import { type SampleItem, sampleItems } from '../package/sample-items.ts';
import { jsonText, printResult } from '../print-result.ts';
import { printableValue } from '../printable-text.ts';
import { sampleText } from '../sample-text.ts';
import { countOption, withExamples } from './define-command.ts';

/** Sections and types beyond these are only counted in the text for people. */
const MAX_LISTED = 100;

/** `inspect`: what a package holds. */
export function addInspectCommand(program: Command, cli: Cli): void {
  const command = program
    .command('inspect')
    .summary('show what a package holds')
    .description('Reads a package to its end and shows its sections, counts, version hash and first items.')
    .argument('<package>', 'a .pkg.zip file')
    .addOption(countOption('--samples <count>', 'how many items to show', 0, 100, 3))
    .action(async (path: string, options: { samples: number }) => {
      await using opened = await openLocalPackage(cli, path);
      const { pkg } = opened;
      const samples = await sampleItems(pkg, options.samples, cli.signal);
      const types = new Map<string, number>();
      const hashed = await hashPackage(pkg, cli.signal, ({ type }) => countType(types, type));
      await printResult(cli, {
        text: () => inspectionText(path, pkg, hashed, types, samples),
        json: () => jsonText(inspectionDocument(path, pkg, hashed, types, samples)),
      });
    });
  withExamples(command, [
    'svc-pkg inspect gsm8k.pkg.zip',
    'svc-pkg inspect --samples 0 --json gsm8k.pkg.zip',
  ]);
}

/** Types are free text: beyond a thousand of them the rest is one. */
function countType(types: Map<string, number>, type: string): void {
  const known = types.has(type) || types.size < 1000 ? type : '(others)';
  types.set(known, (types.get(known) ?? 0) + 1);
}

/** Name and description as an import would take them. */
function describe(pkg: PackageReader): { name: string | null; description: string | null } {
  return { name: textOf(pkg.manifest, 'name'), description: textOf(pkg.meta, 'description') };
}

function textOf(object: JsonObject | null, key: string): string | null {
  const value = object === null ? undefined : getMember(object, key);
  return typeof value === 'string' ? value : null;
}

function inspectionText(
  path: string,
  pkg: PackageReader,
  hashed: HashedPackage,
  types: ReadonlyMap<string, number>,
  samples: readonly SampleItem[],
): string {
  const { name, description } = describe(pkg);
  const generator = [textOf(pkg.manifest, 'generator'), textOf(pkg.manifest, 'generator_version')];
  const facts = formatFacts([
    ['package', path],
    ['name', name && printableValue(name)],
    ['description', description && printableValue(description)],
    ['written by', printableValue(generator.filter((part) => part !== null).join(' '))],
    ['version hash', hashed.versionHash],
    ['items', `${hashed.itemCount} in ${countOf(hashed.sections.length, 'section')}`],
    ['assets', hashed.assetCount],
    ['types', listed([...types].map(([type, count]) => `${count} ${printableValue(type)}`))],
    ['ignored', listed(pkg.ignoredEntries.map(printableValue))],
  ]);
  const sections = hashed.sections
    .slice(0, MAX_LISTED)
    .map((section) => [section.name, section.itemCount] as const);
  const more = hashed.sections.length - sections.length;
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

function inspectionDocument(
  path: string,
  pkg: PackageReader,
  hashed: HashedPackage,
  types: ReadonlyMap<string, number>,
  samples: readonly SampleItem[],
): Record<string, unknown> {
  return {
    ...hashDocument(path, hashed),
    ...describe(pkg),
    asset_count: hashed.assetCount,
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

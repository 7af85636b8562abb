import { isAbsolute, join, relative } from 'node:path';
import { jsonText } from '@svc/jsonl-v23/internal';
import { type SealReport, sealedOutputPath, sealPackageFile } from '@svc/pkg-format/node';
import type { Command } from 'commander';
import { type Cli, generatorOf, given } from '../cli-context.ts';
import { isFolder } from '../output/output-file.ts';
import { outputPackage } from '../output/package-output.ts';
import { showProgress } from '../output/progress.ts';
import { entryOf } from '../package/open-local-package.ts';
import { countOf, formatFacts, printableValue } from '../text/format.ts';
import { type WriteOptions, withExamples, writesPackages } from './define-command.ts';

/** `seal`: writes the manifest of an edited package. */
export function addSealCommand(program: Command, cli: Cli): void {
  const command = program
    .command('seal')
    .summary('write manifest and hashes after an edit')
    .description(
      'Checks a package, or a folder with the files of one, and writes it with a new manifest: counts, hashes and ' +
        'checksums. All other files stay as they are, byte for byte.',
    )
    .argument('<packages...>', '.pkg.zip files, or folders with the files of one each')
    .option('--name <name>', 'name of the dataset (default: the name in the manifest, else the file name)');
  writesPackages(command, cli, '<package>.pkg.zip next to the input', seal);
  withExamples(command, [
    'unzip gsm8k.pkg.zip -d gsm8k && $EDITOR gsm8k/sections/test.jsonl && svc-pkg seal gsm8k --force',
    'svc-pkg seal edited.pkg.zip --output sealed.pkg.zip',
  ]);
}

async function seal(cli: Cli, input: string, options: WriteOptions): Promise<void> {
  const { name } = options;
  const sealed = sealedOutputPath(input);
  const defaultPath = isAbsolute(input) ? sealed : relative('', sealed);
  const nameEntry = (await isFolder(input)) ? (entry: string): string => join(input, entry) : entryOf(input);
  await outputPackage(cli, options, { input, nameEntry, defaultPath }, async (target, force) => {
    using progress = showProgress(cli, 'sealing');
    const report = await sealPackageFile(input, {
      ...{ output: target, force, generator: generatorOf(cli) },
      ...{ signal: cli.signal, onRead: progress.update },
      ...given({ name }),
    });
    return (output) => ({
      text: () => sealText(report, output),
      json: () => jsonText(sealDocument(input, report, output)),
    });
  });
}

function sealText(report: SealReport, output: string): string {
  const { versionHash, versionHashBefore: before } = report;
  return formatFacts([
    ['output', output],
    ['name', printableValue(report.name)],
    ['version hash', versionHash],
    [
      'before',
      before === null ? null : before === versionHash ? 'the same version hash' : printableValue(before),
    ],
    ['items', `${report.itemCount} in ${countOf(report.sections.length, 'section')}`],
    ['files', report.fileCount],
  ]);
}

function sealDocument(input: string, report: SealReport, output: string): Record<string, unknown> {
  return {
    input,
    output,
    name: report.name,
    version_hash: report.versionHash,
    version_hash_before: report.versionHashBefore,
    item_count: report.itemCount,
    sections: report.sections.map(({ name, file, itemCount }) => ({ name, file, item_count: itemCount })),
    file_count: report.fileCount,
  };
}

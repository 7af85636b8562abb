import { isAbsolute, join, relative } from 'node:path';
import { type SealReport, sealedOutputPath, sealPackageFile } from '@svc/pkg-format/node';
import { type Cli, generatorOf, given } from '../cli-context.ts';
import { isFolder } from '../output/output-file.ts';
import {
  checkOutputOfSeveral,
  outputPackage,
  packageOutput,
  type WriteOptions,
} from '../output/package-output.ts';
import { eachPath, factsResult, type Result } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { entryOf } from '../package/input-file.ts';
import { countOf, printableValue } from '../text/format.ts';
import { checkName, operation, text } from './define-operation.ts';

export const seal = operation({
  summary: 'write manifest and hashes after an edit',
  description:
    'Checks a package, or a folder with the files of one, and writes it with a new manifest: counts, hashes and ' +
    'checksums. All other files stay as they are, byte for byte.',
  arguments: { inputs: ['<packages...>', '.pkg.zip files, or folders with the files of one each'] },
  options: {
    name: text(
      '--name <name>',
      'name of the dataset (default: the name in the manifest, else the file name)',
    ),
    ...packageOutput('<package>.pkg.zip next to the input'),
  },
  service: false,
  examples: [
    'unzip gsm8k.pkg.zip -d gsm8k && $EDITOR gsm8k/sections/test.jsonl && svc-pkg seal gsm8k --force',
    'svc-pkg seal edited.pkg.zip --output sealed.pkg.zip',
  ],
  async run({ inputs, ...options }, cli) {
    checkName(options.name);
    await checkOutputOfSeveral(inputs, options);
    await eachPath(cli, inputs, (out, input) => sealOne(out, input, options));
  },
});

async function sealOne(cli: Cli, input: string, options: WriteOptions): Promise<void> {
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
    return (output) => sealResult(input, report, output);
  });
}

function sealResult(input: string, report: SealReport, output: string): Result {
  const { name, versionHash, versionHashBefore: before, itemCount, sections, fileCount } = report;
  const shownBefore =
    before === null ? null : before === versionHash ? 'the same version hash' : printableValue(before);
  return factsResult(
    [
      ['output', output],
      ['name', printableValue(name)],
      ['version hash', versionHash],
      ['before', shownBefore],
      ['items', `${itemCount} in ${countOf(sections.length, 'section')}`],
      ['files', fileCount],
    ],
    {
      ...{ input, output, name, version_hash: versionHash, version_hash_before: before },
      item_count: itemCount,
      sections: sections.map(({ name, file, itemCount }) => ({ name, file, item_count: itemCount })),
      file_count: fileCount,
    },
  );
}

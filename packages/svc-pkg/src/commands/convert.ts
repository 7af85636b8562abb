import { jsonText } from '@svc/jsonl-v23/internal';
import { type ConversionReport, convertLegacyFile, legacyOutputPath } from '@svc/pkg-format/node';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { outputPackage, type PackageReport } from '../output/package-output.ts';
import { showProgress } from '../output/progress.ts';
import { type InputFile, openInputFile } from '../package/input-file.ts';
import { entryOf } from '../package/open-local-package.ts';
import { conversionDocument, conversionText } from '../text/conversion-text.ts';
import { type WriteOptions, withExamples, writesPackages } from './define-command.ts';

/** `convert`: turns a legacy archive into a package. */
export function addConvertCommand(program: Command, cli: Cli): void {
  const command = program
    .command('convert')
    .summary('turn legacy archives into packages')
    .description(
      'Turns a legacy archive into a package and reports what it changed. It drops nothing: members without an ' +
        'equivalent stay as they are. The same archive always gives the same package.',
    )
    .argument('<legacy...>', '.zip files, - for standard input')
    .option('--name <name>', 'name of the dataset (default: the name in the archive, else the file name)');
  writesPackages(command, cli, '<legacy>.pkg.zip in the folder of the archive', convertOne);
  withExamples(command, [
    'svc-pkg convert old.zip',
    'svc-pkg convert old.zip --name "GSM8K" --output packages/',
    'svc-pkg convert old/*.zip --output packages/',
    'svc-pkg convert old.zip --output - | ssh backup "cat > new.pkg.zip"',
  ]);
}

async function convertOne(cli: Cli, path: string, options: WriteOptions): Promise<void> {
  await using file = await openInputFile(cli, path);
  const input = file.path;
  // What comes from standard input goes to standard output.
  const output = options.output ?? (path === '-' ? '-' : undefined);
  const chosen = { ...options, ...(output !== undefined && { output }) };
  const nameEntry = entryOf(path);
  const source = { input, shown: path, nameEntry, defaultPath: legacyOutputPath(input) };
  await outputPackage(cli, chosen, source, (target, force) =>
    convert(cli, file, options.name, { target, force }),
  );
}

async function convert(
  cli: Cli,
  { path: input, shown }: InputFile,
  name: string | undefined,
  { target, force }: { readonly target: string; readonly force: boolean },
): Promise<PackageReport> {
  using progress = showProgress(cli, 'converting');
  const report: ConversionReport = await convertLegacyFile(input, {
    output: target,
    force,
    signal: cli.signal,
    onRead: (readBytes, totalBytes) => progress.update(readBytes, totalBytes),
    ...(name !== undefined && { name }),
  });
  return (output) => ({
    text: () => conversionText({ ...report, output }),
    json: () => jsonText(conversionDocument(shown, { ...report, output })),
  });
}

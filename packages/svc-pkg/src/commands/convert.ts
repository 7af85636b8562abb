import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type ConversionReport, convertLegacyFile, legacyOutputPath } from '@svc/pkg-format/node';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { isSystemError, toFileError } from '../errors/file-error.ts';
import { outputExists, outputPath, replaceableFile } from '../output/output-file.ts';
import { jsonText, printResult } from '../output/print-result.ts';
import { showProgress } from '../output/progress.ts';
import { writeText } from '../output/write-text.ts';
import { nameArchive } from '../package/open-local-package.ts';
import { conversionDocument, conversionText } from '../text/conversion-text.ts';
import { withExamples } from './define-command.ts';

interface Options {
  readonly name?: string;
  readonly output?: string;
  readonly force?: boolean;
}

/** In characters. */
const MAX_NAME_LENGTH = 255;

/** `convert`: turns a legacy archive into a package. */
export function addConvertCommand(program: Command, cli: Cli): void {
  const command = program
    .command('convert')
    .summary('turn a legacy archive into a package')
    .description(
      'Turns a legacy archive into a package and reports what it changed. It drops nothing: members without an ' +
        'equivalent stay as they are. The same archive always gives the same package.',
    )
    .argument('<legacy>', 'a .zip file')
    .option('--name <name>', 'name of the dataset (default: the name in the archive, else the file name)')
    .option(
      '-o, --output <path>',
      'file or folder to write to, - for standard output (default: <legacy>.pkg.zip in the folder of the archive)',
    )
    .option('-f, --force', 'replace an existing output')
    .action(async (path: string, options: Options) => {
      if (options.output === '-') await convertToStdout(cli, path, options);
      else await printReport(cli, path, await convert(cli, path, options));
    });
  withExamples(command, [
    'svc-pkg convert old.zip',
    'svc-pkg convert old.zip --name "GSM8K" --output packages/',
    'svc-pkg convert old.zip --output - | ssh backup "cat > new.pkg.zip"',
  ]);
}

function printReport(cli: Cli, input: string, report: ConversionReport, stream = cli.stdout): Promise<void> {
  const text = (): string => conversionText(report);
  return printResult(cli, { text, json: () => jsonText(conversionDocument(input, report)) }, stream);
}

/** Converts to a temporary file first, so that standard output gets a complete package or nothing. */
async function convertToStdout(cli: Cli, input: string, options: Options): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pkg-'));
  try {
    const report = await convert(cli, input, { ...options, output: join(folder, 'package.pkg.zip') });
    for await (const chunk of createReadStream(report.output)) {
      cli.signal.throwIfAborted();
      await writeText(cli.stdout, chunk);
    }
    // Standard output is the package; only --json asks for a report.
    if (cli.json) await printReport(cli, input, { ...report, output: '-' }, cli.stderr);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function convert(cli: Cli, input: string, options: Options): Promise<ConversionReport> {
  const { name, force = false } = options;
  if (name !== undefined && (name.trim() === '' || name.length > MAX_NAME_LENGTH)) {
    throw new CliError('usage', `--name must have 1 to ${MAX_NAME_LENGTH} characters, not all of them blank`);
  }
  const defaultPath = legacyOutputPath(input);
  const output = await outputPath(options.output, dirname(defaultPath), basename(defaultPath));
  try {
    const target = await replaceableFile(output, force);
    using progress = showProgress(cli, 'converting');
    const report = await convertLegacyFile(input, target, {
      force,
      signal: cli.signal,
      onRead: (readBytes, totalBytes) => progress.update(readBytes, totalBytes),
      ...(name !== undefined && { name }),
    });
    return { ...report, output };
  } catch (error) {
    throw conversionError(error, input, output);
  }
}

/** Says which of the two files an error of the file system is about. */
function conversionError(error: unknown, input: string, output: string): unknown {
  if (!isSystemError(error)) return nameArchive(error, input);
  if (error.code === 'EEXIST') return outputExists(output);
  const isInput = error.syscall === 'read' || error.path === input;
  return isInput ? toFileError(error, 'read', input) : toFileError(error, 'write', output);
}

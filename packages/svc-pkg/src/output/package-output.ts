import { createReadStream } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Cli } from '../cli-context.ts';
import { force, text, type Values } from '../commands/define-operation.ts';
import { isSystemError, toFileError, usageError } from '../errors/cli-error.ts';
import { isUnnamed, nameArchive } from '../package/input-file.ts';
import { createTemporaryFolder, isFolder, outputExists, outputPath, replaceableFile } from './output-file.ts';
import { dataWriter, printHint, printReport, type Result, refuseTerminal } from './print.ts';

/** The options of packages on a command line. @param defaultOutput where it is written without them, in words */
export const packageOutput = (defaultOutput: string) => ({
  output: text(
    '-o, --output <path>',
    `file or folder to write to, - for standard output (default: ${defaultOutput})`,
  ),
  force: force(),
});

export type PackageOutputOptions = Values<ReturnType<typeof packageOutput>>;
export type WriteOptions = PackageOutputOptions & { readonly name?: string };

/** Several inputs need a folder to write to, or none. @throws CliError `usage` */
export async function checkOutputOfSeveral(
  inputs: readonly string[],
  { output }: PackageOutputOptions,
): Promise<void> {
  if (output === undefined && inputs.filter(isUnnamed).length > 1)
    throw usageError('Several inputs without a name need --output');
  if (inputs.length === 1 || output === undefined || output.endsWith('/')) return;
  if (!(await isFolder(output))) throw usageError('--output must be a folder for several inputs');
}

/** Standard input, or another input without a folder, goes to standard output, unless the options say where. */
export function withDefaultOutput(
  options: PackageOutputOptions,
  inputs: readonly string[],
): PackageOutputOptions {
  return inputs.some(isUnnamed) ? { ...options, output: options.output ?? '-' } : options;
}

interface PackageInput {
  readonly input: string;
  /** The input as the user named it; default `input`. */
  readonly shown?: string;
  /** How errors name an entry of the input; default: as it is. */
  readonly nameEntry?: (entry: string) => string;
  readonly defaultPath: string;
}

/**
 * Writes a package next to its input, or where the options say, and prints the report. `-` is standard output: it gets a
 * complete package or nothing, and the report goes to standard error, with `--json` alone.
 *
 * @param write reports by the path that the package has in the end
 */
export async function outputPackage(
  cli: Cli,
  { output: asked, force: isForced }: PackageOutputOptions,
  source: PackageInput,
  write: (target: string, force: boolean) => Promise<(output: string) => Result>,
): Promise<void> {
  if (asked === '-') {
    const report = await throughFile(cli, 'archive', (target) =>
      write(target, false).catch((error: unknown) => {
        throw outputError(error, source, target);
      }),
    );
    if (cli.json) await printReport(cli, report('-'), cli.stderr);
    return;
  }
  const force = isForced === true;
  const { defaultPath } = source;
  const output = await outputPath(asked, dirname(defaultPath), basename(defaultPath));
  const target = await replaceableFile(output, force);
  const report = await write(target, force).catch((error: unknown) => {
    throw outputError(error, source, output);
  });
  await printReport(cli, report(output));
  await printHint(cli, `Next: svc-pkg check ${output}, or svc-pkg upload ${output}`);
}

/** Standard output gets a complete file, or nothing: it is written to a temporary one first. */
export async function throughFile<T>(
  cli: Cli,
  kind: 'archive' | 'file',
  write: (target: string) => Promise<T>,
): Promise<T> {
  if (kind === 'archive') refuseTerminal(cli);
  await using folder = await createTemporaryFolder();
  const target = join(folder.path, 'output');
  const written = await write(target);
  const writeChunk = dataWriter(cli);
  for await (const chunk of createReadStream(target)) {
    cli.signal.throwIfAborted();
    await writeChunk(chunk);
  }
  return written;
}

/** Says which of the two files an error of the file system is about. */
function outputError(
  error: unknown,
  { input, shown = input, nameEntry = (entry) => entry }: PackageInput,
  output: string,
): unknown {
  if (!isSystemError(error)) return nameArchive(error, shown, nameEntry);
  if (error.code === 'EEXIST') return outputExists(output);
  const isInput = error.syscall === 'read' || error.path === input || error.path?.startsWith(`${input}/`);
  const path = error.path === undefined || error.path === input ? shown : error.path;
  return isInput ? toFileError(error, 'read', path) : toFileError(error, 'write', output);
}

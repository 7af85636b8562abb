import { jsonText } from '@svc/jsonl-v23/internal';
import { type Command, Option } from 'commander';
import type { Cli, Download } from '../cli-context.ts';
import { databaseUrl } from '../database-url.ts';
import { createOutputFile, outputPath } from '../output/output-file.ts';
import { printHint, printReport, refuseTerminal, writeText } from '../output/print.ts';
import { receive } from '../output/progress.ts';
import { downloadExport } from '../service/download-export.ts';
import { openService, type ServiceOptions } from '../service/open-service.ts';
import { parseDatasetReference, VERSION_ARGUMENT } from '../service/references.ts';
import { formatBytes, formatFacts } from '../text/format.ts';
import { withExamples, withServiceOptions } from './define-command.ts';

interface Options extends ServiceOptions {
  readonly run?: string;
  readonly allowIncomplete?: boolean;
  readonly output?: string;
  readonly force?: boolean;
  readonly database?: boolean;
  readonly databaseUrl?: string;
}

/** `export`: writes a stored dataset as a package. */
export function addExportCommand(program: Command, cli: Cli): void {
  const command = program
    .command('export')
    .summary('write a stored dataset as a package')
    .description(
      'Writes a dataset as a package. The file appears under its name only when it is ' + 'complete.',
    )
    .argument('<dataset>', VERSION_ARGUMENT)
    .option(
      '--run <id>',
      'include this run of the dataset: its configuration without secrets, and its results',
    )
    .option(
      '--allow-incomplete',
      'with --run: also a run that is not completed, which the package marks as incomplete',
    )
    .option(
      '-o, --output <path>',
      'file or folder to write to, - for standard output (default: the name that the service proposes)',
    )
    .option('-f, --force', 'replace an existing output')
    .action(async (dataset: string, options: Options) => {
      if (options.output === '-') refuseTerminal(cli);
      await using download = await openDownload(cli, dataset, options);
      if (options.output === '-') await writeToStdout(cli, download, options.run);
      else await writeToFile(cli, download, options);
    });
  if (cli.database !== null) withDatabaseOptions(command);
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg export GSM8K',
    'svc-pkg export GSM8K@3 --output before-the-corrections.pkg.zip',
    'svc-pkg export 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --run 0b9f... --output with-run.pkg.zip',
    'svc-pkg export GSM8K --output - | ssh backup "cat > gsm8k.pkg.zip"',
    ...(cli.database === null
      ? []
      : ['DATABASE_URL=postgresql://localhost/svc svc-pkg export GSM8K --database']),
  ]);
}

function withDatabaseOptions(command: Command): void {
  command
    .optionsGroup('Database:')
    .addOption(
      new Option(
        '--database',
        'read the database of the environment variable DATABASE_URL instead of a service',
      ).conflicts(['databaseUrl', 'apiUrl', 'apiKeyEnv']),
    )
    .addOption(
      new Option('--database-url <url>', 'read this database instead of a service').conflicts([
        'apiUrl',
        'apiKeyEnv',
      ]),
    );
}

function openDownload(cli: Cli, dataset: string, options: Options): Promise<Download> {
  const { database } = cli;
  const selection = { runId: options.run, allowIncomplete: options.allowIncomplete === true };
  if (database === null || (!options.database && options.databaseUrl === undefined)) {
    return downloadExport(openService(cli, options), dataset, selection);
  }
  const url = databaseUrl(cli, options.databaseUrl);
  return database.openExport(url, {
    ...parseDatasetReference(dataset),
    ...selection,
    signal: cli.signal,
  });
}

async function writeToFile(cli: Cli, download: Download, options: Options): Promise<void> {
  const name = download.fileName ?? `${download.datasetId}.pkg.zip`;
  const path = await outputPath(options.output, '.', name);
  await using file = await createOutputFile(path, { force: options.force === true });
  await receive(cli, download.body, download.byteLength, (chunk) => file.write(chunk));
  await file.commit();
  await printExport(cli, download, options.run, path, file.bytesWritten);
  await printHint(cli, `Next: svc-pkg check ${path}, or svc-pkg inspect ${path}`);
}

async function writeToStdout(cli: Cli, download: Download, runId: string | undefined): Promise<void> {
  const { body, byteLength } = download;
  const bytes = await receive(cli, body, byteLength, (chunk) => writeText(cli.stdout, chunk));
  // Standard output is the archive; only --json asks for a report.
  if (cli.json) await printExport(cli, download, runId, '-', bytes, cli.stderr);
}

async function printExport(
  cli: Cli,
  download: Download,
  runId: string | undefined,
  output: string,
  bytes: number,
  stream = cli.stdout,
): Promise<void> {
  const document = { dataset_id: download.datasetId, run_id: runId ?? null, output, bytes };
  const text = (): string =>
    formatFacts([
      ['dataset', download.datasetId],
      ['run', runId],
      ['output', output],
      ['size', formatBytes(bytes)],
    ]);
  await printReport(cli, { text, json: () => jsonText(document) }, stream);
}

import type { Cli, Download } from '../cli-context.ts';
import { createOutputFile, outputPath } from '../output/output-file.ts';
import { factsResult, printHint, printReport, refuseTerminal, writeText } from '../output/print.ts';
import { receive } from '../output/progress.ts';
import { downloadExport } from '../service/download.ts';
import { parseDatasetReference, VERSION_ARGUMENT } from '../service/references.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { formatBytes } from '../text/format.ts';
import { flag, force, grouped, type Operation, operation, text, type Values } from './define-operation.ts';
import { databaseUrl } from './migrate.ts';

/** If the program has a database, exports read it without a service. */
const databaseFlags = () =>
  grouped('Database:', {
    database: flag(
      '--database',
      'read the database of the environment variable DATABASE_URL instead of a service',
    ).conflicts(['databaseUrl', 'apiUrl', 'apiKeyEnv']),
    databaseUrl: text('--database-url <url>', 'read this database instead of a service').conflicts([
      'apiUrl',
      'apiKeyEnv',
    ]),
  });

const exportFlags = () => ({
  run: text(
    '--run <id>',
    'include this run of the dataset: its configuration without secrets, and its results',
  ),
  allowIncomplete: flag(
    '--allow-incomplete',
    'with --run: also a run that is not completed, which the package marks as incomplete',
  ),
  output: text(
    '-o, --output <path>',
    'file or folder to write to, - for standard output (default: the name that the service proposes)',
  ),
  force: force(),
});

type Options = Values<ReturnType<typeof exportFlags> & ReturnType<typeof databaseFlags>>;

export const exportDataset: Operation = (command, cli) =>
  operation({
    summary: 'write a stored dataset as a package',
    description: 'Writes a dataset as a package. The file appears under its name only when it is complete.',
    arguments: { dataset: ['<dataset>', VERSION_ARGUMENT] },
    options: { ...exportFlags(), ...(cli.database === null ? {} : databaseFlags()) },
    examples: [
      'svc-pkg export GSM8K',
      'svc-pkg export GSM8K@3 --output before-the-corrections.pkg.zip',
      'svc-pkg export 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --run 0b9f... --output with-run.pkg.zip',
      'svc-pkg export GSM8K --output - | ssh backup "cat > gsm8k.pkg.zip"',
      ...(cli.database === null
        ? []
        : ['DATABASE_URL=postgresql://localhost/svc svc-admin export GSM8K --database']),
    ],
    async run({ dataset, ...options }: { readonly dataset: string } & Options, _, open) {
      if (options.output === '-') refuseTerminal(cli);
      await using download = await openDownload(cli, dataset, options, open);
      if (options.output === '-') await writeToStdout(cli, download, options.run);
      else await writeToFile(cli, download, options);
    },
  })(command, cli);

async function openDownload(
  cli: Cli,
  dataset: string,
  options: Options,
  open: () => Promise<ServiceClient>,
): Promise<Download> {
  const { database } = cli;
  const selection = { runId: options.run, allowIncomplete: options.allowIncomplete === true };
  if (database === null || (!options.database && options.databaseUrl === undefined)) {
    return await downloadExport(await open(), dataset, selection);
  }
  const url = databaseUrl(cli, options.databaseUrl);
  return await database.openExport(url, {
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
  const { datasetId } = download;
  const facts = [
    ['dataset', datasetId],
    ['run', runId],
    ['output', output],
    ['size', formatBytes(bytes)],
  ] as const;
  const document = { dataset_id: datasetId, run_id: runId ?? null, output, bytes };
  await printReport(cli, factsResult(facts, document), stream);
}

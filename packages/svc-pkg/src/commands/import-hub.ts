import type { DatasetSummary, HubImportRequest, Job } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { compileMapping } from '@svc/jsonl-v23/mapping';
import { writePackageFile } from '@svc/pkg-format/node';
import { planMapping } from '@svc/tabular/datasets';
import { type Cli, generatorOf, given } from '../cli-context.ts';
import { usageError } from '../errors/cli-error.ts';
import { outputPackage, packageOutput } from '../output/package-output.ts';
import { printHint, printReport } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { datasetResult, printDryRun, storedDataset } from '../service/dataset-response.ts';
import { secretFrom } from '../service/open-service.ts';
import { repeatLost } from '../service/service-client.ts';
import { checkName, flag, hubFlags, mandatory, operation, text, type Values } from './define-operation.ts';
import { type GivenMapping, mappingFlags, mappingOf } from './table-flags.ts';
import { background, handle, ifExists } from './upload.ts';

const OPTIONS = {
  name: mandatory(text('--name <name>', 'name of the dataset (required)')),
  description: text('--description <text>', 'description of the dataset'),
  handle: handle(),
  ifExists: ifExists(),
  dryRun: flag('--dry-run', 'convert every row and report errors, but store nothing'),
  inBackground: background(),
  local: flag('--local', 'write a package, without a service').conflicts([
    'dryRun',
    'apiUrl',
    'handle',
    'ifExists',
  ]),
  ...packageOutput('<name>.pkg.zip in this folder'),
  ...hubFlags(),
  ...mappingFlags(),
};

export const importHub = operation({
  summary: 'import a dataset of the hub into a service, or as a package',
  description:
    'Makes a service read a dataset of the hub, turn each row into an item and store all of them or nothing. ' +
    'With --local, this program reads the hub and writes a package instead. "svc-pkg preview" shows the columns.',
  arguments: { path: ['<path>', 'the dataset on the hub, as <owner>/<dataset>'] },
  options: OPTIONS,
  examples: [
    'svc-pkg import-hub openai/gsm8k --name "GSM8K test" --subset main --split test \\\n' +
      '      --prompt-column question --answer-column answer',
    'svc-pkg import-hub openai/gsm8k --name trial --split "train[:100]" --prompt-column question --dry-run',
    'svc-pkg import-hub openai/gsm8k --name gsm8k --local --prompt-column question --answer-column answer',
  ],
  async run({ path, ...options }, cli, open) {
    const { name, description, handle, split, subset, revision } = options;
    const mapping = await mappingOf(options);
    if (mapping === null) {
      throw usageError('Say which column becomes the prompt: --prompt-column, or --mapping with a file');
    }
    checkName(name);
    const variable = options.local ? 'HUB_TOKEN' : undefined;
    const token = secretFrom(cli, options.hubTokenEnv, variable, '--hub-token-env');
    if (options.local) return await importLocally(cli, path, options, mapping, token);
    if (options.output !== undefined || options.force)
      throw usageError('--output and --force require --local');
    const service = await open();
    const request = {
      // The service checks the mapping.
      body: {
        ...{ name, ...given({ description, handle }) },
        config: { path, ...given({ split, subset, revision, token }) },
        mapping: mapping.wire as HubImportRequest['mapping'],
      },
      bodySerializer: canonicalJson,
      fetch: service.slowFetch,
    };
    const query = given({ if_exists: options.ifExists });
    if (options.dryRun) {
      const checking = service.api.POST('/datasets/hub/check', { params: { query }, ...request });
      const { text, value } = await service.read(checking);
      return await printDryRun(cli, value, text);
    }
    // A lost connection does not import it twice.
    const { status, value, text } = await repeatLost(cli, (key) => {
      const header = { 'Idempotency-Key': key, ...(options.inBackground && { Prefer: 'respond-async' }) };
      return service.read(
        service.api.POST('/datasets/hub/import', { params: { header, query }, ...request }),
      );
    });
    // A worker imports it, unless the service does so immediately: RFC 7240 leaves the choice to it.
    const outcome = status === 202 ? { job: value as Job, text } : { dataset: value as DatasetSummary, text };
    const dataset = await storedDataset(cli, service, outcome);
    await printReport(cli, datasetResult(dataset));
    await printHint(cli, `Next: svc-pkg run ${dataset.value.id} --set provider.type=echo`);
  },
});

const SECTION = 'default';

/**
 * Writes a package of the rows of a hub dataset of `HUB_ENDPOINT`, as a service imports them: the same items, with the
 * same version hash. Only this loads the reader of the hub.
 */
async function importLocally(
  cli: Cli,
  path: string,
  options: Values<typeof OPTIONS>,
  { mapping, wire }: GivenMapping,
  token: string | undefined,
): Promise<void> {
  const { createHubClient, hubSchema } = await import('@svc/hub-client');
  const { fileNameOf, ItemMaker, writtenResult } = await import('../local/pack-files.ts');
  const { name, description = null, split, subset, revision } = options;
  const { signal } = cli;
  const endpoint = cli.env['HUB_ENDPOINT'];
  const defaultPath = `${fileNameOf(name)}.pkg.zip`;
  await outputPackage(cli, options, { input: path, defaultPath }, async (target, force) => {
    await using hub = createHubClient({
      userAgent: `svc-pkg/${cli.version}`,
      dispatcher: await cli.dispatcher(),
      ...(endpoint === undefined || endpoint === '' ? {} : { endpoint }),
    });
    const dataset = await hub.openDataset({ path, revision, token, signal });
    const textColumns = new Set(Object.keys(mapping.types ?? {}));
    const reader = await dataset.select({ subset, split, signal, textColumns, skipsInvalid: true });
    const { columns, features, unused } = planMapping(mapping, reader.features, reader);
    const rows = reader.rowBatches({ columns, signal });
    const maker = new ItemMaker(mapping, dataset.fileBytes);
    for (const column of unused) maker.unusedColumns.add(column);
    using progress = showProgress(cli, 'importing', 'items');
    const onProgress = (items: number): void => progress.update(items, reader.numRows);
    const from = { reader, resolvedRevision: dataset.resolvedRevision };
    const items = maker.checked(maker.ofRows(rows, compileMapping(mapping, features)));
    const content = {
      ...{ name, description, sections: [{ name: SECTION, items }] },
      schema: () => hubSchema({ path, split, revision }, from, { mapping: wire, skipped: maker.skipped }),
    };
    const how = { force, generator: generatorOf(cli), signal, onProgress };
    const file = await writePackageFile(target, content, how);
    const written = { ...file, ...maker.notes, skippedFiles: { first: [], total: 0 } };
    return (output) => writtenResult({ input: [path], output, name }, written);
  });
}

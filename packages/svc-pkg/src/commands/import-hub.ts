import type { HubImportRequest } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { type Command, Option } from 'commander';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { importHubFile } from '../local/import-hub-file.ts';
import { fileNameOf, writtenResult } from '../local/pack-files.ts';
import {
  type GivenMapping,
  type MappingOptions,
  mappingOf,
  withMappingOptions,
} from '../mapping/mapping-options.ts';
import { outputPackage, type PackageOutputOptions } from '../output/package-output.ts';
import { printHint, printReport } from '../output/print.ts';
import { datasetResult, printDryRun } from '../service/dataset-response.ts';
import {
  type ImportHubOptions,
  ifExistsQuery,
  importFromHub,
  importRequest,
} from '../service/import-request.ts';
import { openService, type ServiceOptions, secretFrom } from '../service/open-service.ts';
import {
  backgroundOption,
  checkName,
  handleOption,
  ifExistsOption,
  withExamples,
  withHubOptions,
  withOutputOptions,
  withServiceOptions,
} from './define-command.ts';

type Options = ImportHubOptions &
  MappingOptions &
  PackageOutputOptions &
  ServiceOptions & {
    readonly hubTokenEnv?: string;
    readonly dryRun?: boolean;
    readonly background: boolean;
    readonly local?: boolean;
  };

/** `import-hub`: rows of a hub dataset become a dataset of a service, or a package. */
export function addImportHubCommand(program: Command, cli: Cli): void {
  const command = program
    .command('import-hub')
    .summary('import a dataset of the hub into a service, or as a package')
    .description(
      'Makes a service read a dataset of the hub, turn each row into an item and store all of them or nothing. ' +
        'With --local, this program reads the hub and writes a package instead. "svc-pkg preview" shows the columns.',
    )
    .argument('<path>', 'the dataset on the hub, as <owner>/<dataset>')
    .requiredOption('--name <name>', 'name of the dataset (required)')
    .option('--description <text>', 'description of the dataset')
    .addOption(handleOption())
    .addOption(ifExistsOption())
    .option('--dry-run', 'convert every row and report errors, but store nothing')
    .addOption(backgroundOption())
    .addOption(
      new Option('--local', 'write a package, without a service').conflicts([
        'dryRun',
        'apiUrl',
        'handle',
        'ifExists',
      ]),
    );
  withOutputOptions(command, '<name>.pkg.zip in this folder').optionsGroup('Rows:');
  withMappingOptions(withHubOptions(command)).action(async (path: string, options: Options) => {
    const mapping = await mappingOf(options);
    if (mapping === null) {
      throw new CliError(
        'usage',
        'Say which column becomes the prompt: --prompt-column, or --mapping with a file',
      );
    }
    checkName(options.name);
    const variable = options.local ? 'HUB_TOKEN' : undefined;
    const token = secretFrom(cli, options.hubTokenEnv, variable, '--hub-token-env');
    if (options.local) return await importLocally(cli, path, options, mapping, token);
    if (options.output !== undefined || options.force) {
      throw new CliError('usage', '--output and --force require --local');
    }
    const request = importRequest(path, options, mapping.wire, token);
    await (options.dryRun ? dryRun : importNow)(cli, options, request);
  });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg import-hub openai/gsm8k --name "GSM8K test" --subset main --split test \\\n' +
      '      --prompt-column question --answer-column answer',
    'svc-pkg import-hub openai/gsm8k --name trial --split "train[:100]" --prompt-column question --dry-run',
    'svc-pkg import-hub openai/gsm8k --name gsm8k --local --prompt-column question --answer-column answer',
  ]);
}

/** Reads the hub here, and writes a package. */
async function importLocally(
  cli: Cli,
  path: string,
  options: Options,
  given: GivenMapping,
  token: string | undefined,
): Promise<void> {
  const { name, description, split, subset, revision } = options;
  const defaultPath = `${fileNameOf(name)}.pkg.zip`;
  await outputPackage(cli, options, { input: path, defaultPath }, async (target, force) => {
    const selection = { path, split, subset, revision, token };
    const written = await importHubFile(
      cli,
      selection,
      given,
      { name, description },
      { path: target, force },
    );
    return (output) => writtenResult({ input: [path], output, name, ...written });
  });
}

/** Makes a service read the hub, and waits until it has stored the dataset. */
async function importNow(cli: Cli, options: Options, request: HubImportRequest): Promise<void> {
  const service = openService(cli, options);
  const dataset = await importFromHub(cli, service, request, options);
  await printReport(cli, datasetResult(dataset));
  await printHint(cli, `Next: svc-pkg run ${dataset.value.id} --set provider.type=echo`);
}

/** Makes a service read the hub and report errors. */
async function dryRun(cli: Cli, options: Options, body: HubImportRequest): Promise<void> {
  const service = openService(cli, options);
  const { text, value } = await service.read(
    service.api.POST('/datasets/hub/check', {
      params: ifExistsQuery(options),
      body,
      bodySerializer: canonicalJson,
      fetch: service.slowFetch,
    }),
  );
  await printDryRun(cli, value, text);
}

import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { EXIT } from '../errors/exit-codes.ts';
import { errorLine } from '../errors/print-error.ts';
import { printResult } from '../output/print-result.ts';
import { printDataset } from '../service/dataset-response.ts';
import { type ImportHubOptions, importRequest } from '../service/import-request.ts';
import type { ServiceClient } from '../service/service-client.ts';
import type { FieldError } from '../service/service-error.ts';
import { openService, type ServiceOptions, secretFrom } from '../service/service-options.ts';
import { storeDataset } from '../service/store-dataset.ts';
import { formatFacts } from '../text/format-facts.ts';
import { backgroundOption, withExamples, withHubOptions, withServiceOptions } from './define-command.ts';

type Options = ImportHubOptions &
  ServiceOptions & {
    readonly hubTokenEnv?: string;
    readonly dryRun?: boolean;
    readonly background?: boolean;
  };

/** `import-hub`: rows of a hub dataset become a dataset of a service. */
export function addImportHubCommand(program: Command, cli: Cli): void {
  const command = program
    .command('import-hub')
    .summary('import a dataset of the hub into a service')
    .description(
      'Makes a service read a dataset of the hub, turn each row into an item and store all of them or nothing. ' +
        '"svc-pkg preview" shows the columns.',
    )
    .argument('<path>', 'the dataset on the hub, as <owner>/<dataset>')
    .requiredOption('--name <name>', 'name of the dataset in the service (required)')
    .option('--description <text>', 'description of the dataset')
    .option('--dry-run', 'convert every row and report errors, but store nothing')
    .addOption(backgroundOption().conflicts('dryRun'))
    .optionsGroup('Rows:');
  withHubOptions(command)
    .optionsGroup('Columns:')
    .requiredOption(
      '--prompt-column <column>',
      'becomes the prompt; a list of {role, content} becomes messages (required)',
    )
    .option('--answer-column <column>', 'becomes the reference answer')
    .option('--system-prompt-column <column>', 'becomes the system prompt')
    .option('--choices-column <column>', 'becomes the choices of a multiple-choice item')
    .option('--criteria-columns <column...>', 'become the criteria for a grader, in this order')
    .option('--assets-column <column>', 'becomes the assets: an object of entries, or an image')
    .option('--meta-columns <[key=]column...>', 'are kept in meta under their names or other keys')
    .option('--id-column <column>', "becomes the item's id (default: <split>-<row index>)")
    .option('--default-type <type>', 'type of every item (default: freeform)')
    .action(async (path: string, options: Options) => {
      const token = secretFrom(cli, options.hubTokenEnv, undefined, '--hub-token-env');
      const service = openService(cli, options);
      const body = importRequest(path, options, token);
      if (options.dryRun) await dryRun(cli, service, body);
      else
        await printDataset(
          cli,
          await storeDataset(cli, service, { ...IMPORT, body }, options.background === true),
        );
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg import-hub openai/gsm8k --name "GSM8K test" --subset main --split test \\\n' +
      '      --prompt-column question --answer-column answer',
    'svc-pkg import-hub openai/gsm8k --name trial --split "train[:100]" --prompt-column question --dry-run',
  ]);
}

const IMPORT = {
  method: 'POST',
  path: '/datasets/hub/import',
  headers: { 'content-type': 'application/json' },
} as const;

interface DryRunResponse {
  readonly item_count: number;
  readonly version_hash: string | null;
  readonly errors?: readonly FieldError[];
  readonly errors_total?: number;
}

async function dryRun(cli: Cli, service: ServiceClient, body: string): Promise<void> {
  const { text, value } = await service.sendForJson<DryRunResponse>({
    ...IMPORT,
    query: { dry_run: 'true' },
    body,
    responseTimeoutMs: 0,
  });
  const errors = value.errors ?? [];
  const total = value.errors_total ?? errors.length;
  await printResult(cli, { json: () => text, text: () => dryRunText(value, errors, total) });
  if (total > 0) cli.endWith(EXIT.failed);
}

function dryRunText(result: DryRunResponse, errors: readonly FieldError[], total: number): string {
  const lines = errors.map(({ message, code = 'invalid_row', ...location }) =>
    errorLine({ location, message, code }),
  );
  if (total > errors.length) lines.push(`... and ${total - errors.length} more`);
  const facts = formatFacts([
    ['stored', 'nothing (dry run)'],
    ['items', result.item_count],
    ['errors', total],
    ['version hash', result.version_hash],
  ]);
  return `${lines.map((line) => `${line}\n`).join('')}${facts}`;
}

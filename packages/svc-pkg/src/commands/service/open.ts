import { spawn } from 'node:child_process';
import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { printResult } from '../../output/print.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { type FoundVersion, findVersion, readDataset, VERSION_ARGUMENT } from '../../service/references.ts';
import type { ServiceClient } from '../../service/service-client.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly run?: string;
  readonly print?: boolean;
  readonly python?: boolean;
}

/** `open`: the console in a browser. */
export function addOpenCommand(program: Command, cli: Cli): void {
  const command = program
    .command('open')
    .summary('open the console of a service in a browser')
    .description(
      'Opens the console at its list of datasets, at a dataset or at a run, and prints its address.',
    )
    .argument('[dataset]', VERSION_ARGUMENT)
    .option('--run <id>', 'open this run')
    .option('--print', 'only print the address')
    .option('--python', 'print the three lines that read the dataset in Python, and open nothing')
    .action(async (dataset: string | undefined, { run, print, python, ...options }: Options) => {
      const service = openService(cli, options);
      if (python === true) {
        if (dataset === undefined) throw new CliError('usage', '--python needs a dataset.');
        const lines = await pythonLines(service, dataset);
        const text = (): string => `${lines.join('\n')}\n`;
        await printResult(cli, { text, json: () => jsonText({ lines }) });
        return;
      }
      const address = `${service.url}/console${await pathOf(dataset, run, (named) => findVersion(service, named))}`;
      await printResult(cli, { text: () => `${address}\n`, json: () => jsonText({ url: address }) });
      if (!print && !cli.json) openBrowser(cli, address);
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg open',
    'svc-pkg open GSM8K',
    'svc-pkg open --print',
    'svc-pkg open GSM8K --python',
  ]);
}

async function pathOf(
  dataset: string | undefined,
  run: string | undefined,
  find: (reference: string) => Promise<FoundVersion>,
): Promise<string> {
  if (run !== undefined) return `/runs/${encodeURIComponent(run)}`;
  if (dataset === undefined) return '/datasets';
  const { id, version } = await find(dataset);
  return `/datasets/${id}${version === undefined ? '' : `?version=${version}`}`;
}

/** The program that loads a version of a dataset: the library reads the variable when it is imported. */
async function pythonLines(service: ServiceClient, dataset: string): Promise<readonly string[]> {
  const version = await findVersion(service, dataset);
  const { value } = await readDataset(service, version);
  const [repo, revision] = [value.handle ?? version.id, value.version_hash.slice(0, 40)];
  return [
    `import os; os.environ["HF_ENDPOINT"] = ${JSON.stringify(service.url)}`,
    'from datasets import load_dataset',
    `dataset = load_dataset(${JSON.stringify(`svc/${repo}`)}, revision="${revision}")`,
  ];
}

/** The program of each platform that opens an address in the user's browser. */
function openBrowser(cli: Cli, address: string): void {
  const [program, ...args] =
    {
      darwin: ['open'] as const,
      win32: ['rundll32', 'url.dll,FileProtocolHandler'] as const,
    }[cli.platform as string] ?? (['xdg-open'] as const);
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
  // The address is printed; without a browser that is enough.
  child.on('error', () => undefined);
  child.unref();
}

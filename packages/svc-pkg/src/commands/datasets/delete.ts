import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { ask } from '../../output/ask.ts';
import { eachPath } from '../../output/each-path.ts';
import { jsonText, printReport } from '../../output/print-result.ts';
import type { ServiceClient } from '../../service/client/service-client.ts';
import { findDataset } from '../../service/find-dataset.ts';
import { runPath } from '../../service/runs/run-response.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { formatFacts } from '../../text/format-facts.ts';
import { printableValue } from '../../text/printable-text.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly run?: boolean;
  readonly yes?: boolean;
}

/** `delete`: removes datasets with their items and runs, or runs. */
export function addDeleteCommand(program: Command, cli: Cli): void {
  const command = program
    .command('delete')
    .summary('delete datasets or runs of a service')
    .description(
      'Deletes datasets with their items and runs, or runs with their results. Asks for the name of each on a terminal; ' +
        'elsewhere it needs --yes.',
    )
    .argument(
      '<datasets...>',
      'ids of the datasets, or their names if they are unique; with --run, ids of runs',
    )
    .option('--run', 'delete runs')
    .option('--yes', 'delete without asking')
    .action(async (targets: readonly string[], options: Options) => {
      if (!options.yes && !cli.isInteractive)
        throw new CliError('usage', 'delete needs --yes where it cannot ask');
      const service = openService(cli, options);
      await eachPath(cli, targets, async (out, target) => {
        const path = await pathOf(service, target, options.run === true);
        const { value } = await service.sendForJson<Deleted>({ method: 'GET', path });
        if (!options.yes) await confirm(cli, value, options.run ? 'its results' : 'all its runs');
        await service.send({ method: 'DELETE', path });
        const { id, name } = value;
        await printReport(out, {
          text: () => formatFacts([['deleted', name === null ? id : `${printableValue(name)} (${id})`]]),
          json: () => jsonText({ id, name, deleted: true }),
        });
      });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg delete "old trial"',
    'svc-pkg delete "trial 1" "trial 2" --yes',
    'svc-pkg delete --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --yes',
  ]);
}

interface Deleted {
  readonly id: string;
  readonly name: string | null;
}

async function pathOf(service: ServiceClient, target: string, isRun: boolean): Promise<string> {
  return isRun ? runPath(target) : `/datasets/${encodeURIComponent(await findDataset(service, target))}`;
}

/** @throws CliError `not_confirmed` */
async function confirm(cli: Cli, { id, name }: Deleted, contents: string): Promise<void> {
  const what = name === null ? 'id of the run' : 'name';
  const expected = name ?? id;
  const typed = await ask(cli, `Type the ${what} to delete it with ${contents} (${expected}): `);
  if (typed !== expected) throw new CliError('not_confirmed', 'The name is another one; nothing was deleted');
}

import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { ask } from '../../output/ask.ts';
import { eachPath } from '../../output/each-path.ts';
import { printReport } from '../../output/print-result.ts';
import { findDataset } from '../../service/find-dataset.ts';
import { runParams } from '../../service/runs/run-response.ts';
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
        const params = options.run ? runParams(target) : { path: { id: await findDataset(service, target) } };
        const kind = options.run ? 'runs' : 'datasets';
        const { data } = await service.api.GET(`/${kind}/{id}`, { params });
        const { id, name } = data as Deleted;
        if (!options.yes) await confirm(cli, { id, name }, options.run ? 'its results' : 'all its runs');
        await service.send({ method: 'DELETE', path: `/${kind}/${encodeURIComponent(params.path.id)}` });
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

/** @throws CliError `not_confirmed` */
async function confirm(cli: Cli, { id, name }: Deleted, contents: string): Promise<void> {
  const what = name === null ? 'id of the run' : 'name';
  const expected = name ?? id;
  const typed = await ask(cli, `Type the ${what} to delete it with ${contents} (${expected}): `);
  if (typed !== expected) throw new CliError('not_confirmed', 'The name is another one; nothing was deleted');
}

import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { ask } from '../../output/ask.ts';
import { jsonText, printResult } from '../../output/print-result.ts';
import { findDataset } from '../../service/find-dataset.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { formatFacts } from '../../text/format-facts.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly yes?: boolean;
}

/** `delete`: removes a dataset with its items and runs. */
export function addDeleteCommand(program: Command, cli: Cli): void {
  const command = program
    .command('delete')
    .summary('delete a dataset of a service')
    .description(
      'Deletes a dataset with its items and runs. Asks for its name on a terminal; elsewhere it needs --yes.',
    )
    .argument('<dataset>', 'id of the dataset, or its name if it is unique')
    .option('--yes', 'delete without asking')
    .action(async (dataset: string, options: Options) => {
      if (!options.yes && !cli.isInteractive)
        throw new CliError('usage', 'delete needs --yes where it cannot ask');
      const service = openService(cli, options);
      const id = await findDataset(service, dataset);
      const path = `/datasets/${encodeURIComponent(id)}`;
      const { value } = await service.sendForJson<{ name: string }>({ method: 'GET', path });
      if (!options.yes) {
        const typed = await ask(
          cli,
          `Type the name of the dataset to delete it with all its runs (${value.name}): `,
        );
        if (typed !== value.name)
          throw new CliError('not_confirmed', 'The name is another one; nothing was deleted');
      }
      await service.send({ method: 'DELETE', path });
      await printResult(cli, {
        text: () => formatFacts([['deleted', `${value.name} (${id})`]]),
        json: () => jsonText({ id, name: value.name, deleted: true }),
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg delete "old trial"', 'svc-pkg delete "old trial" --yes']);
}

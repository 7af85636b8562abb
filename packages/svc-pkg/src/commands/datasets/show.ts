import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { printResult } from '../../output/print.ts';
import { datasetResult } from '../../service/dataset-response.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { findVersion, readDataset, VERSION_ARGUMENT } from '../../service/references.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

/** `show`: one dataset of a service. */
export function addShowCommand(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .summary('show a dataset of a service')
    .description(
      'Shows the name, hash and counts of a dataset; with --json, all that the service knows of it.',
    )
    .argument('<dataset>', VERSION_ARGUMENT)
    .action(async (dataset: string, options: ServiceOptions) => {
      const service = openService(cli, options);
      const found = await readDataset(service, await findVersion(service, dataset));
      await printResult(cli, datasetResult(found));
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg show GSM8K', 'svc-pkg show GSM8K@3']);
}

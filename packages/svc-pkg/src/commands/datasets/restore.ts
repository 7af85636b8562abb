import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { printReport } from '../../output/print.ts';
import { type ChangeOptions, changeHeaders } from '../../service/change-request.ts';
import { changeResult } from '../../service/dataset-response.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { checkVersion, DATASET_ARGUMENT, findDataset } from '../../service/references.ts';
import { repeatLost } from '../../service/service-client.ts';
import { withChangeOptions, withExamples, withServiceOptions } from '../define-command.ts';

type Options = ServiceOptions & ChangeOptions;

/** `restore`: the content of an old version becomes the newest. */
export function addRestoreCommand(program: Command, cli: Cli): void {
  const command = program
    .command('restore')
    .summary('make the content of an old version the newest one')
    .description(
      'Makes a new version of a dataset with the content, and so the hash, of an old one. The versions between them stay.',
    )
    .argument('<dataset>', DATASET_ARGUMENT)
    .argument('<version>', 'number of the version, or at least 8 digits of its hash')
    .action(async (dataset: string, named: string, options: Options) => {
      const version = checkVersion(named);
      const header = changeHeaders(options);
      const service = openService(cli, options);
      const path = { id: await findDataset(service, dataset) };
      const restored = await repeatLost(cli, (key) => {
        const params = { path, header: { ...header, 'Idempotency-Key': key } };
        const request = { params, body: { version }, fetch: service.slowFetch };
        return service.read(service.api.POST('/datasets/{id}/restore', request));
      });
      await printReport(cli, changeResult(restored));
    });
  withServiceOptions(withChangeOptions(command));
  withExamples(command, [
    'svc-pkg restore GSM8K 3',
    'svc-pkg restore GSM8K 1f0c9a5e -m "the corrections were wrong"',
  ]);
}

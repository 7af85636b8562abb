import type { PageQuery } from '@svc/client';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { printListing } from '../../output/print.ts';
import { countsText } from '../../service/dataset-response.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { DATASET_ARGUMENT, findDataset } from '../../service/references.ts';
import { limitOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly limit: number;
}

/** `versions`: the history of a dataset. */
export function addVersionsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('versions')
    .summary('list the versions of a dataset')
    .description('Lists the versions of a dataset, newest first, and what each changed.')
    .argument('<dataset>', DATASET_ARGUMENT)
    .addOption(limitOption())
    .action(async (dataset: string, { limit, ...options }: Options) => {
      const service = openService(cli, options);
      const path = { id: await findDataset(service, dataset) };
      const read = (query: PageQuery) =>
        service.api.GET('/datasets/{id}/versions', { params: { path, query } });
      await printListing(cli, limit, read, {
        version: ({ version }) => version,
        hash: (version) => version.version_hash.slice(0, 12),
        items: (version) => version.item_count,
        source: ({ source }) => source,
        change: ({ change }) => countsText(change),
        runs: (version) => version.run_count,
        created: (version) => version.created_at,
        message: ({ message }) => message,
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg versions GSM8K', 'svc-pkg versions GSM8K --limit 1 --json']);
}

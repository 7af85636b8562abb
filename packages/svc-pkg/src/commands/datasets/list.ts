import type { PageQuery } from '@svc/client';
import { type Command, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printListing } from '../../output/print.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { limitOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly search?: string;
  readonly source?: 'hub' | 'pkg_zip' | 'file';
  readonly limit: number;
}

/** `list`: the datasets of a service. */
export function addListCommand(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .summary('list the datasets of a service')
    .description('Lists the datasets of a service, newest first.')
    .option(
      '--search <text>',
      'only those with this text in their name, description or handle, or with this id',
    )
    .addOption(
      new Option('--source <source>', 'only those of this source').choices(['hub', 'pkg_zip', 'file']),
    )
    .addOption(limitOption())
    .action(async (options: Options) => {
      const query = given({ q: options.search, source: options.source });
      const { api } = openService(cli, options);
      const read = (page: PageQuery) => api.GET('/datasets', { params: { query: { ...query, ...page } } });
      await printListing(cli, options.limit, read, {
        id: ({ id }) => id,
        name: ({ name }) => name,
        handle: ({ handle }) => handle,
        items: (dataset) => dataset.item_count,
        created: (dataset) => dataset.created_at,
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg list', 'svc-pkg list --search gsm8k --json']);
}

import type { PageQuery, Paths, Run } from '@svc/client';
import { type Command, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printListing } from '../../output/print.ts';
import { rounded } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { findDataset } from '../../service/references.ts';
import { limitOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly dataset?: string;
  readonly status?: Run['status'];
  readonly label?: string;
  readonly model?: string;
  readonly sort?: RunsSort;
  readonly limit: number;
}

const RUN_STATUSES: readonly Run['status'][] = [
  'queued',
  'waiting',
  'running',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
  'stopped',
];

type RunsSort = NonNullable<NonNullable<Paths['/runs']['get']['parameters']['query']>['sort']>;

const RUN_SORTS: readonly RunsSort[] = ['created_at', '-created_at', 'score', '-score', 'name', '-name'];

/** `runs`: the runs of a service. */
export function addRunsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('runs')
    .summary('list the runs of a service')
    .description('Lists the runs of a service, newest first or in another order.')
    .option('--dataset <dataset>', 'only runs of this dataset: its id or handle, or its name if it is unique')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .option('--label <label>', 'only runs with this label')
    .option('--model <name>', 'only runs that ask this model')
    .addOption(new Option('--sort <order>', 'order, descending after -').choices(RUN_SORTS))
    .addOption(limitOption())
    .action(async ({ dataset, status, label, model, sort, limit, ...options }: Options) => {
      const service = openService(cli, options);
      const id = dataset === undefined ? undefined : await findDataset(service, dataset);
      const query = given({ dataset_id: id, status, label, model, sort });
      const read = (page: PageQuery) =>
        service.api.GET('/runs', { params: { query: { ...query, ...page } } });
      await printListing(cli, limit, read, {
        id: ({ id }) => id,
        name: ({ name }) => name,
        version: (run) => run.dataset_version,
        status: ({ status }) => status,
        done: ({ counts }) => `${counts.done}/${counts.total}`,
        mean: ({ scores }) => rounded(scores.mean),
        created: (run) => run.created_at,
      });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg runs --dataset GSM8K',
    'svc-pkg runs --status failed --json',
    'svc-pkg runs --label baseline --sort=-score',
  ]);
}

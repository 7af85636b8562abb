import type { Job, PageQuery } from '@svc/client';
import { type Command, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printListing } from '../../output/print.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { limitOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly status?: Job['status'];
  readonly kind?: Job['kind'];
  readonly limit: number;
}

const JOB_STATUSES: readonly Job['status'][] = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelling',
  'cancelled',
];

/** `jobs`: the imports that run in the background. */
export function addJobsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('jobs')
    .summary('list the background jobs of a service')
    .description('Lists imports and uploads that run or ran in the background, newest first.')
    .addOption(new Option('--status <status>', 'only jobs with this status').choices(JOB_STATUSES))
    .addOption(new Option('--kind <kind>', 'only jobs of this kind').choices(['import', 'upload']))
    .addOption(limitOption())
    .action(async ({ status, kind, limit, ...options }: Options) => {
      const { api } = openService(cli, options);
      const query = given({ status, kind });
      const read = (page: PageQuery) => api.GET('/jobs', { params: { query: { ...query, ...page } } });
      await printListing(cli, limit, read, {
        id: ({ id }) => id,
        kind: (job) => job.kind,
        status: (job) => job.status,
        rows: ({ progress }) => progress?.rows_done,
        dataset: (job) => job.dataset_id,
        created: (job) => job.created_at,
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg jobs --status running']);
}

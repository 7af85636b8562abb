import type { Job, Run } from '@svc/client';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { ServiceError } from '../../errors/cli-error.ts';
import { eachPath, printReport } from '../../output/print.ts';
import { runParams } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import type { JsonResponse, ServiceClient } from '../../service/service-client.ts';
import { formatFacts } from '../../text/format.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

/** `cancel`: stops runs and jobs. */
export function addCancelCommand(program: Command, cli: Cli): void {
  const command = program
    .command('cancel')
    .summary('cancel runs and jobs')
    .description(
      'Cancels runs and background jobs. A run keeps its results so far; a job stores nothing. A run that has ended is an ' +
        'error; a job that has ended stays as it is.',
    )
    .argument('<ids...>', 'ids of runs or jobs')
    .action(async (ids: readonly string[], options: ServiceOptions) => {
      const service = openService(cli, options);
      await eachPath(cli, ids, async (out, id) => {
        const { kind, response } = await cancel(service, id);
        await printReport(out, {
          text: () =>
            formatFacts([
              [kind, response.value.id],
              ['status', response.value.status],
            ]),
          json: () => response.text,
        });
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg cancel 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d']);
}

interface Cancelled {
  readonly kind: 'run' | 'job';
  readonly response: JsonResponse<Run | Job>;
}

/** Ids do not say what they are of. */
async function cancel(service: ServiceClient, id: string): Promise<Cancelled> {
  const params = runParams(id);
  try {
    return { kind: 'run', response: await service.read(service.api.POST('/runs/{id}/cancel', { params })) };
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'run_not_found')) throw error;
    return { kind: 'job', response: await service.read(service.api.POST('/jobs/{id}/cancel', { params })) };
  }
}

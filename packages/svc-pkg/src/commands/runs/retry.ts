import { type Command, Option } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { type FinishOptions, finishRun, runParams } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { repeatLost } from '../../service/service-client.ts';
import { maxCostOption, withExamples, withRunLimits, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions, FinishOptions {
  readonly only: 'failed' | 'unscored' | 'truncated' | 'missing';
  readonly maxCost?: number;
}

/** `retry`: asks again for results that a run did not get. */
export function addRetryCommand(program: Command, cli: Cli): void {
  const command = program
    .command('retry')
    .summary('run the failed items of a run again')
    .description(
      'The same run continues with these items; their old results are replaced when the new ones are written.',
    )
    .argument('<run>', 'id of the run')
    .addOption(
      new Option('--only <results>', 'which results to replace')
        .choices(['failed', 'unscored', 'truncated', 'missing'])
        .default('failed'),
    )
    .addOption(maxCostOption())
    .action(async (run: string, { only, maxCost, ...options }: Options) => {
      const service = openService(cli, options);
      const started = await repeatLost(cli, (key) => {
        const body = { only, ...(maxCost !== undefined && { max_cost: { amount: maxCost } }) };
        const options = { params: runParams(run), headers: { 'Idempotency-Key': key }, body };
        return service.read(service.api.POST('/runs/{id}/retry', options));
      });
      await finishRun(cli, service, started, options);
    });
  withServiceOptions(withRunLimits(command));
  withExamples(command, [
    'svc-pkg retry 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --only truncated',
    'svc-pkg retry 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --only missing --max-cost 5',
  ]);
}

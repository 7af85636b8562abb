import { canonicalJson } from '@svc/jsonl-v23/json';
import type { Command } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { type FinishOptions, finishRun, runParams } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { configFile, readRunConfig, withConfigOptions } from '../../service/run-config.ts';
import { repeatLost } from '../../service/service-client.ts';
import { withExamples, withRunLimits, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions, FinishOptions {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly name?: string;
  readonly add?: boolean;
}

/** `rescore`: scores stored outputs again. */
export function addRescoreCommand(program: Command, cli: Cli): void {
  const command = program
    .command('rescore')
    .summary('score the outputs of a run again')
    .description(
      'Scores the stored outputs of a run with another checker or judge, as a new run, or adds scorers to it. Asks no model but the judge.',
    )
    .argument('<run>', 'id of the run')
    .option(
      '--config <file>',
      'JSON file with the members checker and judge, or scorers, - for standard input',
    )
    .option('--set <member=value...>', 'set their members, such as checker.type=numeric')
    .option('--name <name>', 'name of the new run (default: the name of the old one)')
    .option('--add', 'add the scorers to the same run')
    .action(async (run: string, { name, add, config: file, set, ...options }: Options) => {
      const stated = given({ config: file, set });
      const config = await readRunConfig(cli, stated);
      const service = openService(cli, options);
      const started = await withConfigOptions(
        repeatLost(cli, (key) =>
          service.read(
            service.api.POST('/runs/{id}/rescore', {
              params: { ...runParams(run), header: { 'Idempotency-Key': key } },
              body: { ...config, ...given({ name, add }) },
              bodySerializer: canonicalJson,
            }),
          ),
        ),
        configFile(stated),
      );
      await finishRun(cli, service, started, options);
    });
  withServiceOptions(withRunLimits(command));
  withExamples(command, [
    'svc-pkg rescore 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --set checker.type=numeric',
    'svc-pkg rescore 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --config judge.json --name "with a judge"',
    'svc-pkg rescore 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --config scorers.json --add',
  ]);
}

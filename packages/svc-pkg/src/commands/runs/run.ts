import type { Run } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { printNote, printResult } from '../../output/print.ts';
import { type FinishOptions, finishRun, planRun, runRequest, startRun } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { findVersion, VERSION_ARGUMENT } from '../../service/references.ts';
import {
  configFile,
  type RunConfigOptions,
  readRunConfig,
  withConfigOptions,
} from '../../service/run-config.ts';
import { triedText } from '../../service/runs/tried-text.ts';
import {
  countOption,
  maxCostOption,
  withExamples,
  withRunLimits,
  withServiceOptions,
} from '../define-command.ts';

/** What a run does from now on, with its id. */
function startedText({ id, status }: Run, { wait }: Pick<Options, 'wait'>): string {
  if (status !== 'waiting') return `Run ${id} is ${status}`;
  const sending = `send them with "svc-pkg push ${id} <file>"`;
  const ending = wait
    ? 'this command waits until all are there. You can interrupt it: the run goes on waiting. --no-wait does not wait'
    : 'nothing waits for them here';
  return `Run ${id} waits for results from outside: ${sending}; ${ending}`;
}

interface Options extends ServiceOptions, RunConfigOptions, FinishOptions {
  readonly name?: string;
  readonly dryRun?: boolean;
  readonly try?: number;
}

/** `run`: runs a dataset against a model. */
export function addRunCommand(program: Command, cli: Cli): void {
  const command = program
    .command('run')
    .summary('run a dataset against a model')
    .description(
      'Starts a run of a dataset and follows it to its end. The run continues in the service if you interrupt this command.',
    )
    .argument('<dataset>', VERSION_ARGUMENT)
    .option('--config <file>', 'JSON file with the configuration, - for standard input')
    .option('--model <model>', 'model of a chat-completions API')
    .option('--base-url <url>', 'URL of that API')
    .option(
      '--set <member=value...>',
      'set members of the configuration, such as repetitions=3 or provider.type=echo',
    )
    .option(
      '--reuse <run>',
      'id of an earlier run, or latest: its outputs are taken where it asked the same, and cost nothing',
    )
    .addOption(maxCostOption())
    .option('--name <name>', 'name of the run')
    .addOption(
      countOption(
        '--try <items>',
        'ask this many items immediately, show requests and outputs, and store nothing',
        1,
        20,
      ),
    )
    .option('--dry-run', 'only validate, and show what would be requested')
    .action(async (dataset: string, options: Options) => {
      const config = await readRunConfig(cli, options);
      const service = openService(cli, options);
      const found = await findVersion(service, dataset);
      const body = runRequest(found, config, options.name);
      const file = configFile(options);
      if (options.dryRun) {
        const { text } = await planRun(service, { body, file });
        await printResult(cli, { text: () => `${text}\n`, json: () => text });
        return;
      }
      if (options.try !== undefined) {
        const params = { query: { items: options.try } };
        const tried = service.read(
          service.api.POST('/runs/try', { body, bodySerializer: canonicalJson, params }),
        );
        const { value, text } = await withConfigOptions(tried, file);
        await printResult(cli, { text: () => triedText(value), json: () => text });
        return;
      }
      const started = await startRun(cli, service, { body, file });
      await printNote(cli, startedText(started.value, options));
      await finishRun(cli, service, started, options);
    });
  withServiceOptions(withRunLimits(command));
  withExamples(command, [
    'svc-pkg run GSM8K --set provider.type=echo',
    'svc-pkg run GSM8K --model gpt-5 --base-url https://api.openai.com/v1 \\\n' +
      '      --set provider.api_key_env=SVC_PROVIDER_OPENAI',
    'svc-pkg run GSM8K --config run.json --try 3',
    'svc-pkg run GSM8K@3 --config run.json --no-wait',
    'svc-pkg run GSM8K --config run.json --max-failed 5 --min-score 0.8',
    'svc-pkg run GSM8K --config run.json --reuse latest --max-cost 2.50',
  ]);
}

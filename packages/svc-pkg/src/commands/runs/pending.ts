import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { downloadTable } from '../../service/download-table.ts';
import { runPath } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { countOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly limit?: number;
  readonly claim?: number;
  readonly answers?: boolean;
  readonly output: string;
  readonly force?: boolean;
}

/** `pending`: the results that a run with results from outside lacks. */
export function addPendingCommand(program: Command, cli: Cli): void {
  const command = program
    .command('pending')
    .summary('write the results that a run waits for, with their items')
    .description(
      'Writes the results that a run with the provider "external" lacks, as JSON Lines with their items. With --claim, ' +
        'they are reserved: no other client can claim them for so long, and each result extends the rest.',
    )
    .argument('<run>', 'id of the run')
    .addOption(
      countOption('--limit <count>', 'lines at most (default: all; with --claim 100)', 1, 999_999_999),
    )
    .addOption(countOption('--claim <seconds>', 'claim them for so long', 1, 86_400))
    .option('--answers', 'with the answers of the items')
    .option('-o, --output <path>', 'file to write to', '-')
    .option('-f, --force', 'replace an existing output')
    .action(async (run: string, { limit, claim, answers, output, force = false, ...options }: Options) => {
      const path = runPath(run, 'pending');
      const request =
        claim === undefined
          ? { query: { limit: limit?.toString(), answers: answers?.toString() } }
          : { body: JSON.stringify({ limit, claim_seconds: claim, answers }) };
      await downloadTable(cli, openService(cli, options), { path, output, force, ...request });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg pending 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -o todo.jsonl',
    'svc-pkg pending 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --claim 600 --limit 20 | ./my-agent > done.jsonl',
  ]);
}

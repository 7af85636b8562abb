import type { ResponseOf } from '@svc/client';
import { type Command, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printResult } from '../../output/print.ts';
import { intervalText, rounded, runParams } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { formatFacts } from '../../text/format.ts';
import { countOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly only?: 'regressions' | 'improvements' | 'changed_output';
  readonly pairBy?: 'hash' | 'id' | 'prompt';
  readonly limit: number;
}

type Comparison = ResponseOf<'/runs/{id}/compare/{other_id}', 'get'>;

/** `compare`: two runs over their common items. */
export function addCompareCommand(program: Command, cli: Cli): void {
  const command = program
    .command('compare')
    .summary('compare two runs over their common items')
    .description(
      'Compares two runs item by item: the difference of their means (other minus this) with its standard error, and the ' +
        'items in which the other is better or worse. With --json also the items in which they differ.',
    )
    .argument('<run>', 'id of a run')
    .argument('<other>', 'id of the other run')
    .addOption(
      new Option('--only <items>', 'list only these items').choices([
        'regressions',
        'improvements',
        'changed_output',
      ]),
    )
    .addOption(
      new Option('--pair-by <what>', 'what items of both runs have in common').choices([
        'hash',
        'id',
        'prompt',
      ]),
    )
    .addOption(countOption('--limit <count>', 'how many items to list', 1, 100, 50))
    .action(async (run: string, other: string, { only, pairBy, limit, ...options }: Options) => {
      const service = openService(cli, options);
      const path = { ...runParams(run).path, other_id: runParams(other).path.id };
      const params = { path, query: { ...given({ only, pair_by: pairBy }), limit } };
      const { text, value } = await service.read(
        service.api.GET('/runs/{id}/compare/{other_id}', { params }),
      );
      await printResult(cli, { text: () => comparisonText(value), json: () => text });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg compare 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --only regressions',
  ]);
}

function comparisonText(found: Comparison): string {
  if (found.reason !== null) return `${found.reason}\n`;
  return formatFacts([
    ['common items', found.paired],
    ['mean', rounded(found.mean)],
    ['other mean', rounded(found.other_mean)],
    ['difference', rounded(found.mean_difference)],
    ['standard error', rounded(found.stderr)],
    ['95 % interval', intervalText(found.ci95)],
    ['better', found.wins],
    ['worse', found.losses],
    ['equal', found.ties],
    ['p value', rounded(found.p_value)],
    ['verdict', found.verdict && 'undecided: fewer than three common items, or clusters of them'],
    ['changed outputs', found.changed_outputs],
    ['difference in ms', rounded(found.latency_ms.mean_difference)],
    ['difference in cost', rounded(found.cost?.mean_difference ?? null)],
  ]);
}

import type { ResponseOf } from '@svc/client';
import { type Command, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printResult } from '../../output/print.ts';
import { intervalText, rounded, runParams } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { formatFacts, printableValue } from '../../text/format.ts';
import { countOption, withExamples, withServiceOptions } from '../define-command.ts';

type Cell = 'both_pass' | 'both_fail' | 'false_pass' | 'false_fail';

interface Options extends ServiceOptions {
  readonly scorer?: string;
  readonly by?: string;
  readonly other?: string;
  readonly cell?: Cell;
  readonly limit: number;
}

type Agreement = ResponseOf<'/runs/{id}/agreement', 'get'>;

const CELLS: readonly Cell[] = ['both_pass', 'both_fail', 'false_pass', 'false_fail'];

/** `agreement`: how a scorer of a run agrees with people. */
export function addAgreementCommand(program: Command, cli: Cli): void {
  const command = program
    .command('agreement')
    .summary('compare a scorer of a run with the labels of people')
    .description(
      "Compares a scorer with the labels that people gave to the outputs of a run: how often both say the same, Cohen's " +
        'kappa, and how often the scorer passes or fails what people do not. With --json also the results in which they differ.',
    )
    .argument('<run>', 'id of a run')
    .option('--scorer <name>', 'the scorer; the main one by default')
    .option('--by <name>', 'only the labels of this person; the newest verdict on each output by default')
    .option('--other <name>', 'compare this person, in place of a scorer, with --by')
    .addOption(new Option('--cell <cell>', 'list the results of this cell').choices(CELLS))
    .addOption(countOption('--limit <count>', 'how many results to list', 1, 100, 50))
    .action(async (run: string, { scorer, by, other, cell, limit, ...options }: Options) => {
      const service = openService(cli, options);
      const params = { ...runParams(run), query: { ...given({ scorer, by, other, cell }), limit } };
      const { text, value } = await service.read(service.api.GET('/runs/{id}/agreement', { params }));
      await printResult(cli, { text: () => agreementText(value), json: () => text });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg agreement 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --scorer style',
    'svc-pkg agreement 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --by Ada --other Ben --json',
  ]);
}

function agreementText(found: Agreement): string {
  const { cells } = found;
  return formatFacts([
    ['compared', printableValue(found.other ?? found.scorer ?? '')],
    ['with', found.by === null ? 'the newest verdicts' : printableValue(found.by)],
    ['results', found.n],
    ['both pass', cells.both_pass],
    ['both fail', cells.both_fail],
    ['false passes', cells.false_pass],
    ['false fails', cells.false_fail],
    ['agreement', rounded(found.agreement)],
    ['kappa', rounded(found.kappa)],
    ['95 % interval', intervalText(found.kappa_ci95)],
    ['false pass rate', rounded(found.false_pass_rate)],
    ['95 % interval', intervalText(found.false_pass_rate_ci95)],
    ['false fail rate', rounded(found.false_fail_rate)],
    ['95 % interval', intervalText(found.false_fail_rate_ci95)],
    ['base rate', rounded(found.base_rate)],
  ]);
}

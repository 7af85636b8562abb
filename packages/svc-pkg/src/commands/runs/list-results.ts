import type { PageQuery } from '@svc/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printListing, RESULT_COLUMNS } from '../../output/print.ts';
import { rounded, runParams } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { limitOption, numberOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly sort?: string;
  readonly scorer?: string;
  readonly minScore?: number;
  readonly maxScore?: number;
  readonly limit: number;
}

const SORT = /^-?(?:order|score|latency|output_tokens|cost|scorer:.+)$/s;

/** The service checks the name of the scorer. */
function checkSort(text: string): string {
  if (SORT.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be order, score, latency, output_tokens, cost or scorer:<name>, perhaps after -.',
  );
}

/** `results list`: some results of a run, in any order. */
export function addListResultsCommand(results: Command, cli: Cli): void {
  const command = results
    .command('list')
    .summary('list results of a run in any order')
    .description('Lists results of a run: the best, the slowest, those within bounds of a score.')
    .argument('<run>', 'id of the run')
    .addOption(
      new Option(
        '--sort <order>',
        'order, score, latency, output_tokens, cost or scorer:<name>, descending after - (default: order)',
      ).argParser(checkSort),
    )
    .option('--scorer <name>', 'whose score is shown and has bounds; the main one by default')
    .addOption(numberOption('--min-score <score>', 'of at least this score'))
    .addOption(numberOption('--max-score <score>', 'of at most this score'))
    .addOption(limitOption())
    .action(async (run: string, _: Options, self: Command) => {
      const { sort, scorer, minScore, maxScore, limit, ...options } = self.optsWithGlobals<Options>();
      const service = openService(cli, options);
      const { path } = runParams(run);
      const filters = given({ sort, scorer, min_score: minScore, max_score: maxScore });
      const read = (page: PageQuery) =>
        service.api.GET('/runs/{id}/results', { params: { path, query: { ...filters, ...page } } });
      await printListing(cli, limit, read, {
        ...RESULT_COLUMNS,
        status: ({ status }) => status,
        score: ({ score, scores }) =>
          rounded(scorer === undefined ? score : (scores?.[scorer]?.score ?? score)),
        latency_ms: ({ latency_ms }) => latency_ms,
      });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg results list 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --sort=-scorer:style --limit 20',
    'svc-pkg results list 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --max-score 0 --json',
  ]);
}

import type { PageQuery } from '@svc/client';
import { type Command, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printListing, RESULT_COLUMNS } from '../../output/print.ts';
import { downloadTable } from '../../service/download-table.ts';
import { runParams, runPath } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { limitOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly verdict?: 'pass' | 'fail';
  readonly by?: string;
  readonly type?: string;
  readonly limit: number;
  readonly output?: string;
  readonly force?: boolean;
}

/** `labels`: what people say of the outputs of a run. */
export function addLabelsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('labels')
    .summary('list the labels that people gave to the outputs of a run')
    .description(
      'Lists the labels that people gave to the outputs of a run, in item order. With --output, it writes all of them as CSV.',
    )
    .argument('<run>', 'id of the run')
    .addOption(new Option('--verdict <verdict>', 'only labels with this verdict').choices(['pass', 'fail']))
    .option('--by <name>', 'only labels of this person')
    .option('--type <type>', 'only labels with this type')
    .addOption(limitOption())
    .option('-o, --output <path>', 'CSV file to write all of them to; - for standard output')
    .option('-f, --force', 'replace an existing output')
    .action(async (run: string, { verdict, by, type, limit, output, force = false, ...options }: Options) => {
      const service = openService(cli, options);
      const { path } = runParams(run);
      if (output !== undefined) {
        const query = given({ verdict, by, type });
        await downloadTable(cli, service, { path: runPath(run, 'labels.csv'), query, output, force });
        return;
      }
      const read = (page: PageQuery) =>
        service.api.GET('/runs/{id}/labels', {
          params: { path, query: { ...given({ verdict, by, type }), ...page } },
        });
      await printListing(cli, limit, read, {
        ...RESULT_COLUMNS,
        by: (label) => label.by,
        verdict: (label) => label.verdict,
        types: ({ types }) => types.join(', '),
        note: ({ note }) => note,
      });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg labels 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --verdict fail',
    'svc-pkg labels 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -o labels.csv',
  ]);
}

import { iteratePages, type PageQuery, type ResponseOf } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { printResult } from '../../output/print-result.ts';
import { findDataset } from '../../service/find-dataset.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { formatTable } from '../../text/format-table.ts';
import { countOption, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly limit: number;
}

type Difference = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>;
type Change = Difference['data'][number];
type Counts = Difference['counts'];

/** `diff`: what another dataset adds, removes and moves. */
export function addDiffCommand(program: Command, cli: Cli): void {
  const command = program
    .command('diff')
    .summary('compare two datasets of a service')
    .description('Shows which items the other dataset adds, removes and moves, by their hashes.')
    .argument('<dataset>', 'id of a dataset, or its name if it is unique')
    .argument('<other>', 'id or name of the other dataset')
    .addOption(countOption('--limit <count>', 'how many changes to list', 1, 100_000, 100))
    .action(async (dataset: string, other: string, options: Options) => {
      const service = openService(cli, options);
      const [id, otherId] = [await findDataset(service, dataset), await findDataset(service, other)];
      const path = { id, other_id: otherId };
      const read = (query: PageQuery) =>
        service.api.GET('/datasets/{id}/diff/{other_id}', { params: { path, query } });
      const data: Change[] = [];
      let counts: Counts | undefined;
      for await (const page of iteratePages(read, options.limit)) {
        data.push(...page.data);
        counts = page.counts;
      }
      await printResult(cli, {
        text: () => diffText(counts as Counts, data),
        json: () => jsonText({ counts, data }),
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg diff "GSM8K 1" "GSM8K 2"']);
}

function diffText({ added, removed, moved }: Counts, changes: readonly Change[]): string {
  const position = (at: Change['from']): string => (at === null ? '' : `${at.section}:${at.order_index}`);
  const counts = `${added} added, ${removed} removed, ${moved} moved\n`;
  if (changes.length === 0) return counts;
  const rows = changes.map((change) => [
    change.change,
    position(change.from),
    position(change.to),
    change.item_hash.slice(0, 12),
  ]);
  const table = formatTable(['change', 'from', 'to', 'item hash'], rows);
  const more = added + removed + moved - changes.length;
  return `${counts}${table}${more > 0 ? `... and ${more} more\n` : ''}`;
}

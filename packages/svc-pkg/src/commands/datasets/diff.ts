import type { ResponseOf } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/internal';
import { type Command, Option } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { printResult } from '../../output/print.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { findVersion, VERSION_ARGUMENT } from '../../service/references.ts';
import { listPages } from '../../service/service-client.ts';
import { formatTable } from '../../text/format.ts';
import { countOption, withExamples, withServiceOptions } from '../define-command.ts';

const KINDS = ['added', 'removed', 'changed', 'moved'] as const;

interface Options extends ServiceOptions {
  readonly limit: number;
  readonly only?: (typeof KINDS)[number];
}

type Differences = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>;
type Difference = Differences['data'][number];
type Counts = Differences['counts'];

/** `diff`: what another dataset or version adds, removes, changes and moves. */
export function addDiffCommand(program: Command, cli: Cli): void {
  const command = program
    .command('diff')
    .summary('compare two datasets of a service, or two versions of one')
    .description(
      'Shows which items the other dataset adds, removes, changes and moves. A version is its number or the beginning of its hash.',
    )
    .argument('<dataset>', VERSION_ARGUMENT)
    .argument('<other>', 'the other dataset or version')
    .addOption(new Option('--only <kind>', 'list differences of this kind').choices(KINDS))
    .addOption(countOption('--limit <count>', 'how many changes to list', 1, 100_000, 100))
    .action(async (dataset: string, other: string, options: Options) => {
      const service = openService(cli, options);
      const from = await findVersion(service, dataset);
      const to = await findVersion(service, other);
      const path = { id: from.id, other_id: to.id };
      const wanted = given({ version: from.version, other_version: to.version, only: options.only });
      const { counts, data } = await listPages(options.limit, (page) =>
        service.api.GET('/datasets/{id}/diff/{other_id}', {
          params: { path, query: { ...wanted, ...page } },
        }),
      );
      await printResult(cli, {
        text: () => diffText(counts, data, options.only),
        json: () => jsonText({ counts, data }),
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg diff "GSM8K 1" "GSM8K 2"', 'svc-pkg diff GSM8K@1 GSM8K --only changed']);
}

function diffText(counts: Counts, differences: readonly Difference[], only: Options['only']): string {
  const summary = `${KINDS.map((kind) => `${counts[kind]} ${kind}`).join(', ')}\n`;
  if (differences.length === 0) return summary;
  const table = formatTable(['change', 'from', 'to', 'item'], differences.map(rowOf));
  const all =
    only === undefined ? counts.added + counts.removed + counts.changed + counts.moved : counts[only];
  const more = all - differences.length;
  return `${summary}${table}${more > 0 ? `... and ${more} more\n` : ''}`;
}

function rowOf(difference: Difference): string[] {
  const { change } = difference;
  if (change !== 'changed') {
    const position = (at: typeof difference.from): string =>
      at === null ? '' : `${at.section}:${at.order_index}`;
    return [change, position(difference.from), position(difference.to), difference.item_hash.slice(0, 12)];
  }
  const { section, order_index: from, other_order_index: to, fields } = difference;
  const pointers = fields.slice(0, SHOWN_FIELDS).map(({ pointer }) => pointer || 'the whole item');
  const more = fields.length > SHOWN_FIELDS ? [`and ${fields.length - SHOWN_FIELDS} more`] : [];
  return [change, `${section}:${from}`, `${section}:${to}`, [...pointers, ...more].join(', ')];
}

/** Changed members that the table names. */
const SHOWN_FIELDS = 5;

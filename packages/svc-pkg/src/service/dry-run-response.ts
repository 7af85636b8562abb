import type { ResponseOf } from '@svc/client';
import type { Cli } from '../cli-context.ts';
import { EXIT } from '../errors/exit-codes.ts';
import { errorLine } from '../errors/print-error.ts';
import { printResult } from '../output/print-result.ts';
import { formatFacts } from '../text/format-facts.ts';
import { noteFacts } from '../text/note-facts.ts';
import { countsText } from './dataset-response.ts';

export type DryRun = ResponseOf<'/datasets/hub/check', 'post'>;

/** Prints what a request would store; the command fails if rows would make no items. */
export async function printDryRun(cli: Cli, value: DryRun, text: string): Promise<void> {
  await printResult(cli, { json: () => text, text: () => dryRunText(value) });
  if (value.errors_total > 0) cli.endWith(EXIT.failed);
}

function dryRunText(dryRun: DryRun): string {
  const { errors, errors_total: total, item_count, version_hash, change } = dryRun;
  const lines = errors.map(({ message, code = 'invalid_row', ...location }) =>
    errorLine({ location, message, code }),
  );
  if (total > errors.length) lines.push(`... and ${total - errors.length} more`);
  const facts = formatFacts([
    ['stored', 'nothing (dry run)'],
    ['items', item_count],
    ['errors', total],
    ['version hash', version_hash],
    ['change', change && countsText(change)],
    ...noteFacts(dryRun),
  ]);
  return `${lines.map((line) => `${line}\n`).join('')}${facts}`;
}

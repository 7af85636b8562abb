import type { ResponseOf } from '@svc/client';
import type { Cli } from '../cli-context.ts';
import { EXIT } from '../errors/cli-error.ts';
import { errorLine } from '../errors/failure.ts';
import { printResult, type Result } from '../output/print.ts';
import { countOf, formatFacts, noteFacts, printableValue } from '../text/format.ts';
import type { JsonResponse } from './service-client.ts';
import type { StoredDataset } from './store-dataset.ts';

/** A dataset after a change. */
export type ChangedDataset = ResponseOf<'/datasets/{id}/restore', 'post', 201>;

/** A dataset: for machines the response as it is, for people the main facts. */
export function datasetResult({ value, text }: JsonResponse<StoredDataset>): Result {
  const { version, asset_count: assets, run_id: run } = value;
  return {
    json: () => text,
    text: () =>
      datasetText(value, version, [
        ['assets', assets],
        ['run', run && `${printableValue(run)}, added to this dataset, which existed`],
      ]),
  };
}

/** A dataset after a change, in both forms. */
export function changeResult({ status, value, text }: JsonResponse<ChangedDataset>): Result {
  const version = status === 201 ? value.version : `${value.version}, which has this content already`;
  return {
    json: () => text,
    text: () => datasetText(value, version, [['change', countsText(value.change)]]),
  };
}

function datasetText(
  dataset: StoredDataset | ChangedDataset,
  version: string | number,
  more: Parameters<typeof formatFacts>[0],
): string {
  return formatFacts([
    ['dataset', dataset.id],
    ['name', printableValue(dataset.name)],
    ['handle', dataset.handle],
    ['version', version],
    ['version hash', dataset.version_hash],
    ['items', `${dataset.item_count} in ${countOf(dataset.section_count, 'section')}`],
    ...more,
    ...noteFacts(dataset),
  ]);
}

/** How a version differs from the one before, such as `2 added, 1 changed`. */
export function countsText(change: ChangedDataset['change']): string {
  const counts = (['added', 'changed', 'removed'] as const).filter((kind) => change[kind] > 0);
  return counts.map((kind) => `${change[kind]} ${kind}`).join(', ') || 'none';
}

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

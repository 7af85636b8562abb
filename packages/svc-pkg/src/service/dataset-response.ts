import type { ResponseOf } from '@svc/client';
import type { Result } from '../output/print-result.ts';
import { countOf, formatFacts } from '../text/format-facts.ts';
import { noteFacts } from '../text/note-facts.ts';
import { printableValue } from '../text/printable-text.ts';
import type { JsonResponse } from './client/service-request.ts';
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

/** The same of a dataset after a change. */
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

import type { ResponseOf } from '@svc/client';
import type { Result } from '../output/print-result.ts';
import { countOf, formatFacts } from '../text/format-facts.ts';
import { printableValue } from '../text/printable-text.ts';
import type { JsonResponse } from './client/service-request.ts';

/** A dataset after a change. */
export type ChangedDataset = ResponseOf<'/datasets/{id}/restore', 'post', 201>;

/** A change: for machines the response as it is, for people the main facts. */
export function changeResult({ status, value, text }: JsonResponse<ChangedDataset>): Result {
  return { text: () => changeText(value, status === 201), json: () => text };
}

function changeText(dataset: ChangedDataset, isNew: boolean): string {
  return formatFacts([
    ['dataset', dataset.id],
    ['name', printableValue(dataset.name)],
    ['handle', dataset.handle],
    ['version', isNew ? dataset.version : `${dataset.version}, which has this content already`],
    ['version hash', dataset.version_hash],
    ['items', `${dataset.item_count} in ${countOf(dataset.section_count, 'section')}`],
    ['change', countsText(dataset.change)],
  ]);
}

/** How a version differs from the one before, such as `2 added, 1 changed`. */
export function countsText(change: ChangedDataset['change']): string {
  const counts = (['added', 'changed', 'removed', 'moved'] as const).filter((kind) => change[kind] > 0);
  return counts.map((kind) => `${change[kind]} ${kind}`).join(', ') || 'none';
}

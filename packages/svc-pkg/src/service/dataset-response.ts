import type { Result } from '../output/print-result.ts';
import { countOf, formatFacts } from '../text/format-facts.ts';
import { printableValue } from '../text/printable-text.ts';
import type { JsonResponse } from './client/service-request.ts';
import type { StoredDataset } from './store-dataset.ts';

/** A dataset: for machines the response as it is, for people the main facts. */
export function datasetResult({ value, text }: JsonResponse<StoredDataset>): Result {
  return { text: () => datasetText(value), json: () => text };
}

/** A stored dataset for people. */
function datasetText(dataset: StoredDataset): string {
  return formatFacts([
    ['dataset', dataset.id],
    ['name', printableValue(dataset.name)],
    ['handle', dataset.handle],
    ['version', dataset.version],
    ['version hash', dataset.version_hash],
    ['items', `${dataset.item_count} in ${countOf(dataset.section_count, 'section')}`],
    ['assets', dataset.asset_count],
    ['run', dataset.run_id && `${printableValue(dataset.run_id)}, added to this dataset, which existed`],
  ]);
}

import type { Cli } from '../cli-context.ts';
import { printResult } from '../output/print-result.ts';
import { countOf, formatFacts } from '../text/format-facts.ts';
import { printableValue } from '../text/printable-text.ts';
import type { JsonResponse } from './client/service-client.ts';

/** The members of a DatasetSummary (HTTP API) that are printed. */
export interface DatasetResponse {
  readonly id: string;
  readonly name: string;
  readonly version_hash: string;
  readonly section_count: number;
  readonly item_count: number;
  readonly asset_count: number;
}

/** Prints a stored dataset: for machines the response as it is, for people the main facts. */
export function printDataset(cli: Cli, response: JsonResponse<DatasetResponse>): Promise<void> {
  return printResult(cli, { text: () => datasetText(response.value), json: () => response.text });
}

/** A stored dataset for people. */
function datasetText(dataset: DatasetResponse): string {
  return formatFacts([
    ['dataset', dataset.id],
    ['name', printableValue(dataset.name)],
    ['version hash', dataset.version_hash],
    ['items', `${dataset.item_count} in ${countOf(dataset.section_count, 'section')}`],
    ['assets', dataset.asset_count],
  ]);
}

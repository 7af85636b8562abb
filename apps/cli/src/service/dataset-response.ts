import type { Cli } from '../cli-context.ts';
import { printResult } from '../output/print-result.ts';
import { countOf, formatFacts } from '../text/format-facts.ts';
import { printableValue } from '../text/printable-text.ts';
import type { JsonResponse } from './service-client.ts';

/** The members of a DatasetSummary (contract of the HTTP API) that are shown. */
export interface DatasetResponse {
  readonly id: string;
  readonly name: string;
  readonly version_hash: string;
  readonly section_count: number;
  readonly item_count: number;
  readonly asset_count: number;
}

/** Prints a stored dataset: the answer as it came, or what matters of it. */
export function printDataset(cli: Cli, answer: JsonResponse<DatasetResponse>): Promise<void> {
  return printResult(cli, { text: () => datasetText(answer.value), json: () => answer.text });
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

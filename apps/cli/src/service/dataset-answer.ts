import { countOf, formatFacts } from '../format-facts.ts';
import { printableValue } from '../printable-text.ts';

/** The members of a DatasetSummary (contract of the HTTP API) that are shown. */
export interface DatasetAnswer {
  readonly id: string;
  readonly name: string;
  readonly version_hash: string;
  readonly section_count: number;
  readonly item_count: number;
  readonly asset_count: number;
}

/** A stored dataset for people. */
export function datasetText(dataset: DatasetAnswer): string {
  return formatFacts([
    ['dataset', dataset.id],
    ['name', printableValue(dataset.name)],
    ['version hash', dataset.version_hash],
    ['items', `${dataset.item_count} in ${countOf(dataset.section_count, 'section')}`],
    ['assets', dataset.asset_count],
  ]);
}

import { type HubClient, HubError, hubSchema, type SplitReader } from '@svc/hub-client';
import { JsonlError } from '@svc/jsonl-v23';
import type { UnreadRow } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { SectionWriter, TableRows } from '@svc/store';
import { planMapping, typedColumns } from '@svc/tabular/internal';
import { type ImportSource, skippedRows } from '../import-dataset.ts';
import type { ImportRequest } from '../requests.ts';

interface HubSourceOptions {
  /** Longest canonical text of an item. */
  readonly maxItemBytes: number;
}

/** The name of the section of a hub import that is not one for each subset. */
const SECTION_NAME = 'default';

/**
 * A slice of a hub dataset: rows → items by the mapping, while the next rows download. The mapping is checked before the
 * first row. `write` throws HubError; JsonlError, or ImportErrors for several columns, `column_not_found`.
 */
export function hubSource(
  hub: Pick<HubClient, 'openDataset'>,
  request: ImportRequest,
  { maxItemBytes }: HubSourceOptions,
): ImportSource {
  const { config, mapping, mappingAsSent, token, name, description } = request;
  const { path, revision, subset, subsets, split } = config;
  return {
    start: { source: 'hub', path, split, subset, revision },
    toError: (fault) => fault,
    async write(draft, report, signal) {
      const dataset = await hub.openDataset({ path, revision, token, signal });
      const textColumns = typedColumns(mapping);
      try {
        const parts = subsets === undefined ? [subset] : dataset.subsets;
        let slice: { readonly reader: SplitReader; readonly resolvedRevision: string } | undefined;
        let section: SectionWriter | undefined;
        for (const part of parts) {
          const reader = await dataset.select({
            subset: part,
            split,
            signal,
            textColumns,
            skipsInvalid: true,
          });
          const tagged = subsets === 'tags' ? { tags: [...(mapping.tags ?? []), reader.subset] } : {};
          const wanted = { ...mapping, ...tagged };
          const { columns, unused, ...planned } = planMapping(wanted, reader.features, reader);
          for (const column of unused) report.unusedColumns.add(column);
          const options = { itemsTotal: reader.numRows, isNamed: subsets === 'sections', read: dataset };
          if (subsets === 'sections' || section === undefined)
            section = draft.section(subsets === 'sections' ? reader.subset : SECTION_NAME, options);
          // Rows of several subsets in one section have ids of their own.
          const prefix = subsets === 'tags' ? `${reader.subset}-` : '';
          await section.writeRows(rowsOf(reader, columns, prefix, signal), { ...planned, maxItemBytes });
          slice ??= { reader, resolvedRevision: dataset.resolvedRevision };
        }
        if (slice === undefined) throw new HubError('hub_unsupported_dataset', 'The dataset has no subset.');
        const facts = { mapping: mappingAsSent, skipped: skippedRows(report) };
        const schema = canonicalJson(hubSchema(config, slice, facts));
        return { dataset: { name, description, notes: null, source: 'hub', schema } };
      } catch (error) {
        if (!(error instanceof HubError && error.code === 'invalid_row')) throw error;
        // After this row, the file cannot be read.
        report.faults.addError(
          new JsonlError('invalid_row', error.message, error.location, { cause: error }),
        );
        return null;
      }
    },
  };
}

/** @param prefix of the names of splits */
async function* rowsOf(
  reader: Pick<SplitReader, 'rowBatches'>,
  columns: readonly string[],
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<TableRows> {
  for await (const batch of reader.rowBatches({ columns, signal })) {
    const [first] = batch;
    if (first === undefined) continue;
    const invalid = new Map<number, UnreadRow>();
    for (const [at, { unread }] of batch.entries()) if (unread !== undefined) invalid.set(at, unread);
    yield {
      firstRow: first.rowIndex,
      split: prefix + first.split,
      rows: batch.map(({ row }) => row),
      invalid,
    };
  }
}

import { type HubClient, HubError } from '@svc/hub-client';
import { hubSchema } from '@svc/hub-client/internal';
import { JsonlError } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { planMapping, typedColumns } from '@svc/tabular/internal';
import type { ImportSource } from '../import-dataset.ts';
import type { ImportRequest } from '../requests.ts';
import { skippedRows } from './skipped-rows.ts';

interface HubSourceOptions {
  /** Longest canonical text of an item. */
  readonly maxItemBytes: number;
}

/** The name of the one section of a hub import. */
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
  const { path, revision, subset, split } = config;
  return {
    start: { source: 'hub', path, split, subset, revision },
    toError: (fault) => fault,
    async write(draft, report, signal) {
      const dataset = await hub.openDataset({ path, revision, token, signal });
      const textColumns = typedColumns(mapping);
      try {
        const reader = await dataset.select({ subset, split, signal, textColumns, skipsInvalid: true });
        const { columns, ...planned } = planMapping(mapping, reader.features, reader);
        const plan = { ...planned, maxItemBytes };
        const rows = reader.cellBatches({ columns, signal });
        const options = { itemsTotal: reader.numRows, isNamed: false, read: dataset };
        const section = draft.section(SECTION_NAME, options);
        await section.writeCells(rows, plan);
        const slice = { reader, resolvedRevision: dataset.resolvedRevision };
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

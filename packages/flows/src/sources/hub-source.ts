import { type HubClient, HubError, type SplitReader } from '@svc/hub-client';
import { hubSchema } from '@svc/hub-client/internal';
import { JsonlError } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { DatasetDraft } from '@svc/store';
import { planMapping, typedColumns } from '../mapping/plan-mapping.ts';
import type { ImportRequest } from '../requests.ts';
import { type DryRun, dryRunResult } from './dry-run.ts';
import { skippedRows } from './skipped-rows.ts';

export interface ImportOptions {
  /** Longest canonical text of an item. */
  readonly maxItemBytes: number;
  readonly signal: AbortSignal;
}

/** The name of the one section of a hub import. */
const SECTION_NAME = 'default';

/**
 * Imports a slice of a hub dataset into a draft: rows → items → rows of the store, in one pass, while the next rows
 * download. The mapping is checked before the first row. The caller commits the draft.
 *
 * @throws JsonlError, or ImportErrors for several columns, `column_not_found`; JsonlError `assets_not_object`, `invalid_row` with `location.row`; what hub and draft throw
 */
export async function importHub(
  hub: Pick<HubClient, 'openDataset'>,
  draft: DatasetDraft,
  request: ImportRequest,
  options: ImportOptions,
): Promise<void> {
  const skipsInvalid = request.mapping.invalidRows === 'skip';
  const slice = await writeSlice(hub, draft, request, { ...options, skipsInvalid });
  const { config, mapping, mappingAsSent } = request;
  const rows = { mapping: mappingAsSent, skipped: skippedRows(mapping, draft) };
  await draft.insert({
    name: request.name,
    description: request.description,
    notes: null,
    source: 'hub',
    schema: canonicalJson(hubSchema(config, slice, rows)),
  });
}

/**
 * Does everything that an import does, but stores nothing: converts every row, and continues after rows that it cannot
 * read or convert. The row after which a file cannot be read ends it.
 *
 * @param draft of a dry run
 */
export async function dryRunHub(
  hub: Pick<HubClient, 'openDataset'>,
  draft: DatasetDraft,
  request: ImportRequest,
  options: ImportOptions,
): Promise<DryRun> {
  try {
    await writeSlice(hub, draft, request, { ...options, skipsInvalid: true });
  } catch (error) {
    if (!(error instanceof HubError && error.code === 'invalid_row')) throw error;
    const { message, location = {} } = error;
    draft.addFailure(new JsonlError('invalid_row', message, location, { cause: error }));
  }
  return dryRunResult(request.mapping, draft);
}

interface Slice {
  readonly reader: SplitReader;
  readonly resolvedRevision: string;
}

/** Opens the slice that a request asks for, and writes its rows. */
async function writeSlice(
  hub: Pick<HubClient, 'openDataset'>,
  draft: DatasetDraft,
  { config, mapping, token }: ImportRequest,
  { maxItemBytes, skipsInvalid, signal }: ImportOptions & { readonly skipsInvalid: boolean },
): Promise<Slice> {
  const { path, revision, subset, split } = config;
  const dataset = await hub.openDataset({ path, revision, token, signal });
  draft.countBytesOf(dataset);
  const textColumns = typedColumns(mapping);
  const reader = await dataset.select({ subset, split, signal, textColumns, skipsInvalid });
  const { columns, plan } = planMapping(mapping, reader.features, maxItemBytes, reader.unreadRow);
  await draft.section(SECTION_NAME, reader.numRows).writeCells(reader.cellBatches({ columns, signal }), plan);
  return { reader, resolvedRevision: dataset.resolvedRevision };
}

import { createHubClient, type DatasetRef, hubSchema } from '@svc/hub-client';
import { compileMapping } from '@svc/jsonl-v23/mapping';
import { writePackageFile } from '@svc/pkg-format/node';
import { planMapping } from '@svc/tabular';
import { type Cli, generatorOf } from '../cli-context.ts';
import type { GivenMapping } from '../commands/table-flags.ts';
import { showProgress } from '../output/progress.ts';
import { ItemMaker } from './pack-files.ts';

const SECTION = 'default';

/**
 * Writes a package of the rows of a hub dataset of `HUB_ENDPOINT`, as a service imports them: the same items, with the
 * same version hash.
 *
 * @throws HubError; JsonlError `column_not_found`, `invalid_row`, `package_limit`, or ImportErrors for several
 */
export async function importHubFile(
  cli: Cli,
  selection: DatasetRef & { readonly subset: string | undefined; readonly token: string | undefined },
  { mapping, wire }: GivenMapping,
  facts: { readonly name: string; readonly description: string | undefined },
  target: { readonly path: string; readonly force: boolean },
) {
  const { path, split, subset, revision, token } = selection;
  const { signal } = cli;
  const endpoint = cli.env['HUB_ENDPOINT'];
  await using hub = createHubClient({
    userAgent: `svc-pkg/${cli.version}`,
    dispatcher: await cli.dispatcher(),
    ...(endpoint === undefined || endpoint === '' ? {} : { endpoint }),
  });
  const dataset = await hub.openDataset({ path, revision, token, signal });
  const textColumns = new Set(Object.keys(mapping.types ?? {}));
  const reader = await dataset.select({ subset, split, signal, textColumns, skipsInvalid: true });
  const { columns, features, unused } = planMapping(mapping, reader.features, reader);
  const toItem = compileMapping(mapping, features);
  const rows = reader.rowBatches({ columns, signal });
  const maker = new ItemMaker(mapping, dataset.fileBytes);
  for (const column of unused) maker.unusedColumns.add(column);
  using progress = showProgress(cli, 'importing', 'items');
  const onProgress = (items: number): void => progress.update(items, reader.numRows);
  const from = { reader, resolvedRevision: dataset.resolvedRevision };
  const content = {
    name: facts.name,
    description: facts.description ?? null,
    sections: [{ name: SECTION, items: maker.checked(maker.ofRows(rows, toItem)) }],
    schema: () => hubSchema(selection, from, { mapping: wire, skipped: maker.skipped }),
  };
  const how = { force: target.force, generator: generatorOf(cli), signal, onProgress };
  const written = await writePackageFile(target.path, content, how);
  return { ...written, ...maker.notes, skippedFiles: { first: [], total: 0 } };
}

import { type PageQuery, REQUEST_VALUES, type ResponseOf } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/json';
import { type Cli, given } from '../cli-context.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { ask } from '../output/ask.ts';
import { eachPath, factsResult, printListing, printReport, printResult } from '../output/print.ts';
import { countsText, datasetResult } from '../service/dataset-response.ts';
import { downloadTable, formatOf, tableOutput } from '../service/download.ts';
import { printRunFacts, readRun } from '../service/follow-run.ts';
import {
  DATASET_ARGUMENT,
  findDataset,
  findVersion,
  readDataset,
  runParams,
  VERSION_ARGUMENT,
} from '../service/references.ts';
import { listPages, type ServiceClient } from '../service/service-client.ts';
import { formatTable, printableValue } from '../text/format.ts';
import { checkName, choice, flag, limit, operation, text, texts } from './define-operation.ts';

export const list = operation({
  summary: 'list the datasets of a service',
  description: 'Lists the datasets of a service, newest first.',
  options: {
    q: text(
      '--search <text>',
      'only those with this text in their name, description or handle, or with this id',
    ),
    source: choice('--source <source>', 'only those of this source', REQUEST_VALUES['/datasets'].source),
    limit: limit(),
  },
  examples: ['svc-pkg list', 'svc-pkg list --search gsm8k --json'],
  async run({ limit, ...filters }, cli, open) {
    const { api } = await open();
    const read = (page: PageQuery) => api.GET('/datasets', { params: { query: { ...filters, ...page } } });
    await printListing(cli, limit, read, {
      id: ({ id }) => id,
      name: ({ name }) => name,
      handle: ({ handle }) => handle,
      items: (dataset) => dataset.item_count,
      created: (dataset) => dataset.created_at,
    });
  },
});

export const show = operation({
  summary: 'show a dataset of a service',
  description: 'Shows the name, hash and counts of a dataset; with --json, all that the service knows of it.',
  arguments: { dataset: ['<dataset>', VERSION_ARGUMENT] },
  examples: ['svc-pkg show GSM8K', 'svc-pkg show GSM8K@3'],
  async run({ dataset }, cli, open) {
    const service = await open();
    await printResult(cli, datasetResult(await readDataset(service, await findVersion(service, dataset))));
  },
});

export const items = operation({
  summary: 'write the items of a dataset as JSON Lines, CSV or Parquet',
  description: 'Writes the items of a dataset in their order: as canonical JSON Lines, or as a table.',
  arguments: { dataset: ['<dataset>', VERSION_ARGUMENT] },
  options: { section: text('--section <name>', 'only this section'), ...tableOutput() },
  examples: ['svc-pkg items GSM8K --section test | head -n 3', 'svc-pkg items GSM8K@3 -o gsm8k.parquet'],
  async run({ dataset, section, ...output }, cli, open) {
    const service = await open();
    const { id, version } = await findVersion(service, dataset);
    const path = `/datasets/${encodeURIComponent(id)}/items.${formatOf(output)}`;
    await downloadTable(cli, service, { path, query: { section, version }, ...output });
  },
});

export const versions = operation({
  summary: 'list the versions of a dataset',
  description: 'Lists the versions of a dataset, newest first, and what each changed.',
  arguments: { dataset: ['<dataset>', DATASET_ARGUMENT] },
  options: { limit: limit() },
  examples: ['svc-pkg versions GSM8K', 'svc-pkg versions GSM8K --limit 1 --json'],
  async run({ dataset, limit }, cli, open) {
    const service = await open();
    const path = { id: await findDataset(service, dataset) };
    const read = (query: PageQuery) =>
      service.api.GET('/datasets/{id}/versions', { params: { path, query } });
    await printListing(cli, limit, read, {
      version: ({ version }) => version,
      hash: (version) => version.version_hash.slice(0, 12),
      items: (version) => version.item_count,
      source: ({ source }) => source,
      change: ({ change }) => countsText(change),
      runs: (version) => version.run_count,
      created: (version) => version.created_at,
      message: ({ message }) => message,
    });
  },
});

export const rename = operation({
  summary: 'change the name or the handle of a dataset, or the name or the labels of a run',
  description:
    'Changes the name of a dataset, and its handle, description and notes if you give them; or the name and the labels of a ' +
    'run. The version hash of a dataset does not depend on them.',
  arguments: {
    target: ['<dataset>', `${DATASET_ARGUMENT}; with --run, id of a run`],
    name: ['[name]', 'the new name; needed unless you change something else'],
  },
  options: {
    run: flag('--run', 'rename a run'),
    handle: text('--handle <handle>', 'the new handle, a short name that is unique; empty for none'),
    description: text('--description <text>', 'the new description; empty for none'),
    notes: text('--notes <text>', 'the new notes; empty for none'),
    label: texts(
      '--label <labels...>',
      'with --run, the labels of the run in place of those that it has; empty for none',
    ),
  },
  examples: [
    'svc-pkg rename trial "GSM8K test"',
    'svc-pkg rename "GSM8K test" --handle gsm8k-test',
    'svc-pkg rename gsm8k-test --notes "checked by hand"',
    'svc-pkg rename --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d "without examples"',
    'svc-pkg rename --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --label baseline',
  ],
  async run({ target, name, run, label, ...texts }, cli, open) {
    checkName(name);
    const hasTexts = Object.keys(texts).length > 0;
    const labels = label?.filter((one) => one !== '');
    if (name === undefined && (run ? labels === undefined : !hasTexts)) throw usageError('Give a new name');
    const service = await open();
    if (run) {
      if (hasTexts) throw usageError('--handle, --description and --notes are for datasets');
      const body = given({ name, labels });
      const reply = service.api.PATCH('/runs/{id}', { params: runParams(target), body });
      return await printRunFacts(cli, await service.read(reply));
    }
    if (labels !== undefined) throw usageError('--label is for runs: use --run');
    const id = await findDataset(service, target);
    const changed = Object.entries(texts).map(([key, text]) => [key, text || null]);
    const body = { ...given({ name }), ...Object.fromEntries(changed) };
    const reply = service.api.PATCH('/datasets/{id}', { params: { path: { id } }, body });
    await printReport(cli, datasetResult(await service.read(reply)));
  },
});

const DIFF_KINDS = REQUEST_VALUES['/datasets/{id}/diff/{other_id}'].only;

type DiffKind = (typeof DIFF_KINDS)[number];
type Differences = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>;
type Difference = Differences['data'][number];

export const diff = operation({
  summary: 'compare two datasets of a service, or two versions of one',
  description:
    'Shows which items the other dataset adds, removes and changes, and which sections have another order. A version is its number or the beginning of its hash.',
  arguments: {
    dataset: ['<dataset>', VERSION_ARGUMENT],
    other: ['<other>', 'the other dataset or version'],
  },
  options: {
    only: choice('--only <kind>', 'list differences of this kind', DIFF_KINDS),
    limit: limit('how many changes to list', 100_000, 100),
  },
  examples: ['svc-pkg diff "GSM8K 1" "GSM8K 2"', 'svc-pkg diff GSM8K@1 GSM8K --only changed'],
  async run({ dataset, other, limit, only }, cli, open) {
    const service = await open();
    const from = await findVersion(service, dataset);
    const to = await findVersion(service, other);
    const path = { id: from.id, other_id: to.id };
    const wanted = given({ version: from.version, other_version: to.version, only });
    const { counts, sections, data } = await listPages(limit, (page) =>
      service.api.GET('/datasets/{id}/diff/{other_id}', { params: { path, query: { ...wanted, ...page } } }),
    );
    const found = { counts, sections, data };
    await printResult(cli, { text: () => diffText(found, only), json: () => jsonText(found) });
  },
});

function diffText(
  { counts, sections, data: differences }: Pick<Differences, 'counts' | 'sections' | 'data'>,
  only: DiffKind | undefined,
): string {
  const orders = sections.filter(({ order_changed }) => order_changed);
  const summary = [
    `${DIFF_KINDS.map((kind) => `${counts[kind]} ${kind}`).join(', ')}\n`,
    ...orders.map(({ name }) => `The order of section ${printableValue(name)} has changed.\n`),
  ].join('');
  if (differences.length === 0) return summary;
  const table = formatTable(['change', 'from', 'to', 'item'], differences.map(rowOf));
  const kinds: readonly DiffKind[] = only === undefined ? DIFF_KINDS : [only];
  const more = kinds.reduce((sum, kind) => sum + counts[kind], 0) - differences.length;
  return `${summary}${table}${more > 0 ? `... and ${more} more\n` : ''}`;
}

function rowOf(difference: Difference): string[] {
  const { change } = difference;
  if (change !== 'changed') {
    const position = (at: typeof difference.from): string =>
      at === null ? '' : `${at.section}:${at.order_index}`;
    return [change, position(difference.from), position(difference.to), difference.item_hash.slice(0, 12)];
  }
  const { section, order_index: from, other_order_index: to, fields } = difference;
  const pointers = fields.slice(0, SHOWN_FIELDS).map(({ pointer }) => pointer || 'the whole item');
  const more = fields.length > SHOWN_FIELDS ? [`and ${fields.length - SHOWN_FIELDS} more`] : [];
  return [change, `${section}:${from}`, `${section}:${to}`, [...pointers, ...more].join(', ')];
}

const SHOWN_FIELDS = 5;

export const deleteAll = operation({
  summary: 'delete datasets, versions or runs of a service',
  description:
    'Deletes datasets with all their versions and runs, old versions of them, or runs with their results. Asks for the ' +
    'name of each on a terminal; elsewhere it needs --yes.',
  arguments: {
    targets: [
      '<datasets...>',
      'ids or handles of the datasets, or their names if they are unique; @ and a version after one deletes only that ' +
        'version; with --run, ids of runs',
    ],
  },
  options: {
    run: flag('--run', 'delete runs'),
    runs: flag('--runs', 'delete a version with its runs'),
    yes: flag('--yes', 'delete without asking'),
  },
  examples: [
    'svc-pkg delete "old trial"',
    'svc-pkg delete "trial 1" "trial 2" --yes',
    'svc-pkg delete GSM8K@3 --runs',
    'svc-pkg delete --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --yes',
  ],
  async run({ targets, yes, ...options }, cli, open) {
    if (!yes && !cli.isInteractive) throw usageError('delete needs --yes where it cannot ask');
    const service = await open();
    await eachPath(cli, targets, async (out, target) => {
      const found = await findTarget(service, target, options);
      const { id, name, version, shown, path, query } = found;
      if (!yes) await confirm(cli, found);
      await service.send({ method: 'DELETE', path, query });
      const deleted = shown === null ? id : `${printableValue(shown)} (${id})`;
      const document = { id, name, ...given({ version }), deleted: true };
      await printReport(out, factsResult([['deleted', deleted]], document));
    });
  },
});

/** What is deleted, and with what; `shown` is the name that a person types, null for a run without one. */
async function findTarget(
  service: ServiceClient,
  text: string,
  { run, runs }: { readonly run?: true; readonly runs?: true },
) {
  const all = { version: undefined, query: {} };
  if (run) {
    const { id, name } = (await readRun(service, text)).value;
    const path = `/runs/${encodeURIComponent(text)}`;
    return { ...all, id, name, shown: name, contents: 'its results', path };
  }
  const found = await findVersion(service, text);
  const { id, name, version } = (await readDataset(service, found)).value;
  const path = `/datasets/${encodeURIComponent(found.id)}`;
  if (found.version === undefined) return { ...all, id, name, shown: name, contents: 'all its runs', path };
  return {
    ...{ id: found.id, name, version, shown: `${name}@${version}`, path: `${path}/versions/${version}` },
    contents: runs ? 'its runs' : 'what only it holds',
    query: { runs: runs ? 'delete' : undefined },
  };
}

async function confirm(
  cli: Cli,
  { id, shown, contents }: Awaited<ReturnType<typeof findTarget>>,
): Promise<void> {
  const what = shown === null ? 'id of the run' : 'name';
  const expected = shown ?? id;
  const typed = await ask(cli, `Type the ${what} to delete it with ${contents} (${expected}): `);
  if (typed !== expected) throw new CliError('not_confirmed', 'The name is another one; nothing was deleted');
}

import { changeItems, checkChange, type ItemsChange } from '@svc/client';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { given } from '../cli-context.ts';
import { usageError } from '../errors/cli-error.ts';
import { printReport } from '../output/print.ts';
import { readText } from '../package/input-file.ts';
import { changeResult, printDryRun } from '../service/dataset-response.ts';
import { editOf, editsOf, findItem, parseEdits, parseSetting } from '../service/item-edits.ts';
import { checkVersion, DATASET_ARGUMENT, findDataset } from '../service/references.ts';
import { parseValue } from '../service/run-config.ts';
import { sendFiles } from '../service/send-files.ts';
import { repeatLost, type ServiceClient } from '../service/service-client.ts';
import { flag, type Operation, operation, text, texts, type Values } from './define-operation.ts';
import { tableFields, tableFlags } from './table-flags.ts';

const changeFlags = () => ({
  message: text('-m, --message <text>', 'what the history says of the change'),
  ifMatch: text(
    '--if-match <hash>',
    'change nothing unless this is the version hash of the newest version (default: change the newest, whichever it is)',
  ),
});

/** The headers of a change. The message is a header, because bodies of changes differ. @throws CliError `usage` */
function changeHeaders({ message, ifMatch }: Values<ReturnType<typeof changeFlags>>): Record<string, string> {
  if (ifMatch !== undefined && !/^[0-9a-f]{64}$/.test(ifMatch))
    throw usageError('--if-match must be a version hash of 64 digits');
  return given({
    'If-Match': ifMatch === undefined ? undefined : `"${ifMatch}"`,
    'X-Version-Message': message === undefined ? undefined : encodeURIComponent(message.toWellFormed()),
  }) as Record<string, string>;
}

/** An operation that sends files as a change of a dataset. */
const changeOf = (
  mode: ItemsChange['mode'],
  shown: { readonly summary: string; readonly description: string; readonly examples: readonly string[] },
): Operation =>
  operation({
    ...shown,
    arguments: {
      dataset: ['<dataset>', DATASET_ARGUMENT],
      paths: ['<files...>', 'what upload takes: packages, tables, JSON Lines of items; - for standard input'],
    },
    options: {
      section: text(
        '--section <name>',
        'the section of a file that names none (default: the only one of the dataset, or default)',
      ),
      ...changeFlags(),
      dryRun: flag('--dry-run', 'compare and report errors, but store nothing'),
      ...tableFlags(),
    },
    async run({ dataset, paths, dryRun, ...options }, cli, open) {
      const { section, message, ifMatch } = options;
      changeHeaders(options);
      const fields = await tableFields(options);
      const service = await open();
      const datasetId = await findDataset(service, dataset);
      const change: ItemsChange = { datasetId, mode, ...given({ section, message, ifMatch }) };
      if (dryRun) {
        const checked = await sendFiles(cli, service, paths, (sources, sending) =>
          checkChange(sources, change, { ...sending, fields }),
        );
        return await printDryRun(cli, checked.check, checked.text);
      }
      const changed = await sendFiles(cli, service, paths, (sources, sending) =>
        changeItems(sources, change, { ...sending, fields }),
      );
      await printReport(cli, changeResult({ ...changed, value: changed.dataset }));
    },
  });

export const append: Operation = changeOf('append', {
  summary: 'append items to a dataset',
  description:
    'Makes a version of a dataset with the items of files at the end of its sections. New sections go to the end.',
  examples: [
    'svc-pkg append my-set failures.jsonl -m "failures of last night"',
    'svc-pkg append my-set more.csv --prompt-column question --answer-column answer --dry-run',
  ],
});

export const upsert: Operation = changeOf('upsert', {
  summary: 'replace items of a dataset by their ids, and append others',
  description:
    'Makes a version of a dataset in which the items of files are in place of those with the same id in their section; ' +
    'others go to the end.',
  examples: ['svc-pkg upsert my-set corrected.jsonl -m "typing errors" --if-match 1f0c9a5e...'],
});

export const restore = operation({
  summary: 'make the content of an old version the newest one',
  description:
    'Makes a new version of a dataset with the content, and so the hash, of an old one. The versions between them stay.',
  arguments: {
    dataset: ['<dataset>', DATASET_ARGUMENT],
    named: ['<version>', 'number of the version, or at least 8 digits of its hash'],
  },
  options: changeFlags(),
  examples: ['svc-pkg restore GSM8K 3', 'svc-pkg restore GSM8K 1f0c9a5e -m "the corrections were wrong"'],
  async run({ dataset, named, ...options }, cli, open) {
    const version = checkVersion(named);
    const header = changeHeaders(options);
    const service = await open();
    const path = { id: await findDataset(service, dataset) };
    const restored = await repeatLost(cli, (key) => {
      const params = { path, header: { ...header, 'Idempotency-Key': key } };
      const request = { params, body: { version }, fetch: service.slowFetch };
      return service.read(service.api.POST('/datasets/{id}/restore', request));
    });
    await printReport(cli, changeResult(restored));
  },
});

const EDIT_OPTIONS = {
  id: text('--id <id>', 'edit the item with this id, as JSON or else a text: 1 is a number, \'"1"\' a text'),
  section: text('--section <name>', 'the section of that item, where several have one with this id'),
  set: texts(
    '--set <pointer=value...>',
    'set values of that item, such as /answer=42; the value is JSON or else a text',
  ),
  remove: flag('--remove', 'remove that item'),
  ...changeFlags(),
  dryRun: flag('--dry-run', 'compare and report errors, but store nothing'),
};

type EditOptions = Pick<Values<typeof EDIT_OPTIONS>, 'id' | 'section' | 'set' | 'remove'>;

export const edit = operation({
  summary: 'replace or remove items of a dataset',
  description:
    'Makes a version of a dataset in which items are replaced or removed, all or none: the edits of a file, or one item ' +
    'by its id.',
  arguments: {
    dataset: ['<dataset>', DATASET_ARGUMENT],
    file: [
      '[edits]',
      'JSON file with a list of edits, or an object with edits and message; - for standard input',
    ],
  },
  options: EDIT_OPTIONS,
  examples: [
    'svc-pkg edit my-set edits.json -m "typing errors"',
    'svc-pkg edit my-set --id 17 --set /answer=42 --set "/inputs/prompt=6 * 7?"',
    'svc-pkg edit my-set --id leaked --remove',
  ],
  async run({ dataset, file, dryRun, ...options }, cli, open) {
    checkOptions(file, options);
    const headers = changeHeaders(options);
    const service = await open();
    const read = file === undefined ? undefined : parseEdits(await readText(cli, file), file);
    const datasetId = await findDataset(service, dataset);
    const edits = read ?? (await editOfItem(service, datasetId, options));
    const change = editsOf(service, { datasetId, headers }, edits);
    if (dryRun) {
      const { value, text } = await change.check();
      return await printDryRun(cli, value, text);
    }
    await printReport(cli, changeResult(await change.send(cli)));
  },
});

function checkOptions(file: string | undefined, { id, section, set, remove }: EditOptions): void {
  if (file !== undefined) {
    if (id !== undefined || section !== undefined || set !== undefined || remove)
      throw usageError('--id, --section, --set and --remove take the place of a file with edits');
    return;
  }
  if (id === undefined) throw usageError('Give a file with edits, or --id');
  if ((set === undefined) === (remove === undefined)) throw usageError('Give either --set or --remove');
}

async function editOfItem(
  service: ServiceClient,
  datasetId: string,
  { id = '', section, set = [], remove }: EditOptions,
): Promise<JsonObject> {
  const found = await findItem(service, datasetId, parseValue(id), section);
  const edit = editOf(found, set.map(parseSetting));
  return { edits: [remove ? { item_hash: found.itemHash, section: found.section, remove } : edit] };
}

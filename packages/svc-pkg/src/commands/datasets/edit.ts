import type { Paths } from '@svc/client';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { printReport } from '../../output/print.ts';
import { readText } from '../../package/input-file.ts';
import { type ChangeOptions, changeHeaders } from '../../service/change-request.ts';
import { changeResult, printDryRun } from '../../service/dataset-response.ts';
import { findItem, parseEdits, setPointer } from '../../service/item-edits.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { DATASET_ARGUMENT, findDataset } from '../../service/references.ts';
import { repeatLost, type ServiceClient } from '../../service/service-client.ts';
import { withChangeOptions, withExamples, withServiceOptions } from '../define-command.ts';

type Options = ServiceOptions &
  ChangeOptions & {
    readonly id?: string;
    readonly section?: string;
    readonly set?: readonly string[];
    readonly remove?: boolean;
    readonly dryRun?: boolean;
  };

type BodyOfEdit = Paths['/datasets/{id}/items']['patch']['requestBody']['content']['application/json'];

/** `edit`: items of a dataset are replaced or removed. */
export function addEditCommand(program: Command, cli: Cli): void {
  const command = program
    .command('edit')
    .summary('replace or remove items of a dataset')
    .description(
      'Makes a version of a dataset in which items are replaced or removed, all or none: the edits of a file, or one item ' +
        'by its id.',
    )
    .argument('<dataset>', DATASET_ARGUMENT)
    .argument(
      '[edits]',
      'JSON file with a list of edits, or an object with edits and message; - for standard input',
    )
    .option('--id <id>', 'edit the item with this id, as JSON or else a text: 1 is a number, \'"1"\' a text')
    .option('--section <name>', 'the section of that item, where several have one with this id')
    .option(
      '--set <pointer=value...>',
      'set values of that item, such as /answer=42; the value is JSON or else a text',
    )
    .option('--remove', 'remove that item');
  withChangeOptions(command)
    .option('--dry-run', 'compare and report errors, but store nothing')
    .action(async (dataset: string, file: string | undefined, options: Options) => {
      checkOptions(file, options);
      const header = changeHeaders(options);
      const service = openService(cli, options);
      const read = file === undefined ? undefined : parseEdits(await readText(cli, file), file);
      const path = { id: await findDataset(service, dataset) };
      const edits = read ?? (await editOfItem(service, path.id, options));
      const request = {
        body: edits as unknown as BodyOfEdit,
        bodySerializer: canonicalJson,
        fetch: service.slowFetch,
      };
      if (options.dryRun) {
        const { value, text } = await service.read(
          service.api.PATCH('/datasets/{id}/items/check', { params: { path }, headers: header, ...request }),
        );
        await printDryRun(cli, value, text);
        return;
      }
      const changed = await repeatLost(cli, (key) => {
        const params = { path, header: { ...header, 'Idempotency-Key': key } };
        return service.read(service.api.PATCH('/datasets/{id}/items', { params, ...request }));
      });
      await printReport(cli, changeResult(changed));
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg edit my-set edits.json -m "typing errors"',
    'svc-pkg edit my-set --id 17 --set /answer=42 --set "/inputs/prompt=6 * 7?"',
    'svc-pkg edit my-set --id leaked --remove',
  ]);
}

/** @throws CliError `usage` */
function checkOptions(file: string | undefined, { id, section, set, remove }: Options): void {
  if (file !== undefined) {
    if (id !== undefined || section !== undefined || set !== undefined || remove)
      throw new CliError('usage', '--id, --section, --set and --remove take the place of a file with edits');
    return;
  }
  if (id === undefined) throw new CliError('usage', 'Give a file with edits, or --id');
  if ((set === undefined) === (remove === undefined))
    throw new CliError('usage', 'Give either --set or --remove');
}

/** An edit names the item by its hash, so that it fails if the item has changed since. */
async function editOfItem(service: ServiceClient, datasetId: string, options: Options): Promise<JsonObject> {
  const found = await findItem(service, datasetId, options.id ?? '', options.section);
  const named = { item_hash: found.itemHash, section: found.section };
  if (options.remove) return { edits: [{ ...named, remove: true }] };
  for (const entry of options.set ?? []) setPointer(found.item, entry);
  return { edits: [{ ...named, item: found.item }] };
}

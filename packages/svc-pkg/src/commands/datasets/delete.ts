import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { given } from '../../given.ts';
import { ask } from '../../output/ask.ts';
import { eachPath } from '../../output/each-path.ts';
import { printReport } from '../../output/print-result.ts';
import type { ServiceClient } from '../../service/client/service-client.ts';
import { findVersion } from '../../service/find-dataset.ts';
import { runParams } from '../../service/runs/run-response.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { formatFacts } from '../../text/format-facts.ts';
import { printableValue } from '../../text/printable-text.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly run?: boolean;
  readonly runs?: boolean;
  readonly yes?: boolean;
}

/** `delete`: removes datasets with their items and runs, old versions of them, or runs. */
export function addDeleteCommand(program: Command, cli: Cli): void {
  const command = program
    .command('delete')
    .summary('delete datasets, versions or runs of a service')
    .description(
      'Deletes datasets with all their versions and runs, old versions of them, or runs with their results. Asks for the ' +
        'name of each on a terminal; elsewhere it needs --yes.',
    )
    .argument(
      '<datasets...>',
      'ids or handles of the datasets, or their names if they are unique; @ and a version after one deletes only that ' +
        'version; with --run, ids of runs',
    )
    .option('--run', 'delete runs')
    .option('--runs', 'delete a version with its runs')
    .option('--yes', 'delete without asking')
    .action(async (targets: readonly string[], options: Options) => {
      if (!options.yes && !cli.isInteractive)
        throw new CliError('usage', 'delete needs --yes where it cannot ask');
      const service = openService(cli, options);
      await eachPath(cli, targets, async (out, target) => {
        const { id: found, version } = options.run
          ? { ...runParams(target).path, version: undefined }
          : await findVersion(service, target);
        if (version !== undefined) {
          await deleteVersion(cli, out, service, { id: found, version }, options);
          return;
        }
        const kind = options.run ? 'runs' : 'datasets';
        const { data } = await service.api.GET(`/${kind}/{id}`, { params: { path: { id: found } } });
        const { id, name } = data as Deleted;
        if (!options.yes) await confirm(cli, { id, name }, options.run ? 'its results' : 'all its runs');
        await service.send({ method: 'DELETE', path: `/${kind}/${encodeURIComponent(found)}` });
        await printReport(out, {
          text: () => formatFacts([['deleted', name === null ? id : `${printableValue(name)} (${id})`]]),
          json: () => jsonText({ id, name, deleted: true }),
        });
      });
    });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg delete "old trial"',
    'svc-pkg delete "trial 1" "trial 2" --yes',
    'svc-pkg delete GSM8K@3 --runs',
    'svc-pkg delete --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --yes',
  ]);
}

/** Deletes one old version of a dataset. */
async function deleteVersion(
  cli: Cli,
  out: Cli,
  service: ServiceClient,
  reference: { readonly id: string; readonly version: string },
  { yes, runs }: Options,
): Promise<void> {
  const { id } = reference;
  const params = { path: { id }, query: { version: reference.version } };
  const { value } = await service.read(service.api.GET('/datasets/{id}', { params }));
  const { name, version } = value;
  const shown = `${name}@${version}`;
  if (!yes) await confirm(cli, { id, name: shown }, runs ? 'its runs' : 'what only it holds');
  await service.send({
    method: 'DELETE',
    path: `/datasets/${encodeURIComponent(id)}/versions/${version}`,
    query: given({ runs: runs ? 'delete' : undefined }),
  });
  await printReport(out, {
    text: () => formatFacts([['deleted', `${printableValue(shown)} (${id})`]]),
    json: () => jsonText({ id, name, version, deleted: true }),
  });
}

interface Deleted {
  readonly id: string;
  readonly name: string | null;
}

/** @throws CliError `not_confirmed` */
async function confirm(cli: Cli, { id, name }: Deleted, contents: string): Promise<void> {
  const what = name === null ? 'id of the run' : 'name';
  const expected = name ?? id;
  const typed = await ask(cli, `Type the ${what} to delete it with ${contents} (${expected}): `);
  if (typed !== expected) throw new CliError('not_confirmed', 'The name is another one; nothing was deleted');
}

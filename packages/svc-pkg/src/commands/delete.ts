import { type Cli, given } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { ask } from '../output/ask.ts';
import { eachPath, factsResult, printReport } from '../output/print.ts';
import { readRun } from '../service/follow-run.ts';
import { findVersion, readDataset } from '../service/references.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { printableValue } from '../text/format.ts';
import { flag, operation } from './define-operation.ts';

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
    if (!yes && !cli.isInteractive) throw new CliError('usage', 'delete needs --yes where it cannot ask');
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

interface Target {
  readonly id: string;
  readonly name: string | null;
  /** Set for one version of a dataset. */
  readonly version?: number;
  /** The name that a person types; null for a run without one. */
  readonly shown: string | null;
  /** What is deleted with it. */
  readonly contents: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
}

async function findTarget(
  service: ServiceClient,
  text: string,
  { run, runs }: { readonly run?: true; readonly runs?: true },
): Promise<Target> {
  if (run) {
    const { id, name } = (await readRun(service, text)).value;
    const path = `/runs/${encodeURIComponent(text)}`;
    return { id, name, shown: name, contents: 'its results', path, query: {} };
  }
  const found = await findVersion(service, text);
  const { id, name, version } = (await readDataset(service, found)).value;
  const path = `/datasets/${encodeURIComponent(found.id)}`;
  if (found.version === undefined)
    return { id, name, shown: name, contents: 'all its runs', path, query: {} };
  return {
    ...{ id: found.id, name, version, shown: `${name}@${version}`, path: `${path}/versions/${version}` },
    contents: runs ? 'its runs' : 'what only it holds',
    query: { runs: runs ? 'delete' : undefined },
  };
}

/** @throws CliError `not_confirmed` */
async function confirm(cli: Cli, { id, shown, contents }: Target): Promise<void> {
  const what = shown === null ? 'id of the run' : 'name';
  const expected = shown ?? id;
  const typed = await ask(cli, `Type the ${what} to delete it with ${contents} (${expected}): `);
  if (typed !== expected) throw new CliError('not_confirmed', 'The name is another one; nothing was deleted');
}

import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { printReport } from '../../output/print-result.ts';
import { datasetResult } from '../../service/dataset-response.ts';
import { findDataset } from '../../service/find-dataset.ts';
import { printRunFacts, runParams } from '../../service/runs/run-response.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { checkName, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly run?: boolean;
  readonly description?: string;
  readonly notes?: string;
}

/** `rename`: another name for a dataset or a run. */
export function addRenameCommand(program: Command, cli: Cli): void {
  const command = program
    .command('rename')
    .summary('change the name of a dataset or a run')
    .description(
      'Changes the name of a dataset, and its description and notes if you give them; or the name of a run. The version ' +
        'hash of a dataset does not depend on them.',
    )
    .argument('<dataset>', 'id of the dataset, or its name if it is unique; with --run, id of a run')
    .argument('[name]', 'the new name; needed unless you change the description or the notes')
    .option('--run', 'rename a run')
    .option('--description <text>', 'the new description; empty for none')
    .option('--notes <text>', 'the new notes; empty for none')
    .action(
      async (target: string, name: string | undefined, { run, description, notes, ...options }: Options) => {
        checkName(name);
        if (name === undefined && (run || (description === undefined && notes === undefined)))
          throw new CliError('usage', 'Give a new name');
        const service = openService(cli, options);
        if (run) {
          if (description !== undefined || notes !== undefined)
            throw new CliError('usage', '--description and --notes are for datasets');
          const body = { name: name ?? null };
          const reply = service.api.PATCH('/runs/{id}', { params: runParams(target), body });
          await printRunFacts(cli, await service.read(reply));
          return;
        }
        const id = await findDataset(service, target);
        const body = {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description: description || null }),
          ...(notes !== undefined && { notes: notes || null }),
        };
        const reply = service.api.PATCH('/datasets/{id}', { params: { path: { id } }, body });
        await printReport(cli, datasetResult(await service.read(reply)));
      },
    );
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg rename trial "GSM8K test"',
    'svc-pkg rename "GSM8K test" --notes "checked by hand"',
    'svc-pkg rename --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d "without examples"',
  ]);
}

import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { given } from '../../given.ts';
import { printReport } from '../../output/print-result.ts';
import { DATASET_ARGUMENT } from '../../service/dataset-reference.ts';
import { datasetResult } from '../../service/dataset-response.ts';
import { findDataset } from '../../service/find-dataset.ts';
import { printRunFacts, runParams } from '../../service/runs/run-response.ts';
import { openService, type ServiceOptions } from '../../service/service-options.ts';
import { checkName, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly run?: boolean;
  readonly handle?: string;
  readonly description?: string;
  readonly notes?: string;
}

/** `rename`: another name for a dataset or a run. */
export function addRenameCommand(program: Command, cli: Cli): void {
  const command = program
    .command('rename')
    .summary('change the name or the handle of a dataset, or the name of a run')
    .description(
      'Changes the name of a dataset, and its handle, description and notes if you give them; or the name of a run. The ' +
        'version hash of a dataset does not depend on them.',
    )
    .argument('<dataset>', `${DATASET_ARGUMENT}; with --run, id of a run`)
    .argument('[name]', 'the new name; needed unless you change the handle, the description or the notes')
    .option('--run', 'rename a run')
    .option('--handle <handle>', 'the new handle, a short name that is unique; empty for none')
    .option('--description <text>', 'the new description; empty for none')
    .option('--notes <text>', 'the new notes; empty for none')
    .action(
      async (
        target: string,
        name: string | undefined,
        { run, handle, description, notes, ...options }: Options,
      ) => {
        checkName(name);
        const texts = given({ handle, description, notes });
        const hasTexts = Object.keys(texts).length > 0;
        if (name === undefined && (run || !hasTexts)) throw new CliError('usage', 'Give a new name');
        const service = openService(cli, options);
        if (run) {
          if (hasTexts) throw new CliError('usage', '--handle, --description and --notes are for datasets');
          const body = { name: name ?? null };
          const reply = service.api.PATCH('/runs/{id}', { params: runParams(target), body });
          await printRunFacts(cli, await service.read(reply));
          return;
        }
        const id = await findDataset(service, target);
        const body = {
          ...(name !== undefined && { name }),
          ...Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text || null])),
        };
        const reply = service.api.PATCH('/datasets/{id}', { params: { path: { id } }, body });
        await printReport(cli, datasetResult(await service.read(reply)));
      },
    );
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg rename trial "GSM8K test"',
    'svc-pkg rename "GSM8K test" --handle gsm8k-test',
    'svc-pkg rename gsm8k-test --notes "checked by hand"',
    'svc-pkg rename --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d "without examples"',
  ]);
}

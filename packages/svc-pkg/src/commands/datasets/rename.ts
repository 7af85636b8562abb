import type { Command } from 'commander';
import { type Cli, given } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import { printReport } from '../../output/print.ts';
import { datasetResult } from '../../service/dataset-response.ts';
import { printRunFacts, runParams } from '../../service/follow-run.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { DATASET_ARGUMENT, findDataset } from '../../service/references.ts';
import { checkName, withExamples, withServiceOptions } from '../define-command.ts';

interface Options extends ServiceOptions {
  readonly run?: boolean;
  readonly handle?: string;
  readonly description?: string;
  readonly notes?: string;
  readonly label?: readonly string[];
}

/** `rename`: another name for a dataset or a run. */
export function addRenameCommand(program: Command, cli: Cli): void {
  const command = program
    .command('rename')
    .summary('change the name or the handle of a dataset, or the name or the labels of a run')
    .description(
      'Changes the name of a dataset, and its handle, description and notes if you give them; or the name and the labels of a ' +
        'run. The version hash of a dataset does not depend on them.',
    )
    .argument('<dataset>', `${DATASET_ARGUMENT}; with --run, id of a run`)
    .argument('[name]', 'the new name; needed unless you change something else')
    .option('--run', 'rename a run')
    .option('--handle <handle>', 'the new handle, a short name that is unique; empty for none')
    .option('--description <text>', 'the new description; empty for none')
    .option('--notes <text>', 'the new notes; empty for none')
    .option(
      '--label <labels...>',
      'with --run, the labels of the run in place of those that it has; empty for none',
    )
    .action(
      async (
        target: string,
        name: string | undefined,
        { run, handle, description, notes, label, ...options }: Options,
      ) => {
        checkName(name);
        const texts = given({ handle, description, notes });
        const hasTexts = Object.keys(texts).length > 0;
        const labels = label?.filter((one) => one !== '');
        if (name === undefined && (run ? labels === undefined : !hasTexts))
          throw new CliError('usage', 'Give a new name');
        const service = openService(cli, options);
        if (run) {
          if (hasTexts) throw new CliError('usage', '--handle, --description and --notes are for datasets');
          const body = given({ name, labels });
          const reply = service.api.PATCH('/runs/{id}', { params: runParams(target), body });
          await printRunFacts(cli, await service.read(reply));
          return;
        }
        if (labels !== undefined) throw new CliError('usage', '--label is for runs: use --run');
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
    'svc-pkg rename --run 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d --label baseline',
  ]);
}

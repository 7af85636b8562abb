import { REQUEST_VALUES, uploadFile } from '@svc/client';
import { given } from '../cli-context.ts';
import { printHint, printReport } from '../output/print.ts';
import { datasetResult, storedDataset } from '../service/dataset-response.ts';
import { sendFiles } from '../service/send-files.ts';
import { checkName, choice, flag, operation, parsed, text, unless } from './define-operation.ts';
import { tableFields, tableFlags } from './table-flags.ts';

export const handle = () =>
  parsed(
    '--handle <handle>',
    'a short name that is unique, for commands and URLs',
    'It must not be empty.',
    (text) => text || undefined,
  );

export const ifExists = () =>
  choice(
    '--if-exists <what>',
    'if a dataset with this handle exists (without a handle: one with this name and content): reuse returns it, ' +
      'version stores the content as its next version, error fails (default: make another dataset)',
    REQUEST_VALUES['/datasets/upload'].if_exists,
  );

/** A worker does the work, which may take longer than a connection lasts, unless you ask for one request. */
export const background = () =>
  unless(
    '--no-background',
    'do it within one request (default: as a job of the service, which continues if you interrupt this command)',
  );

export const upload = operation({
  summary: 'import a package or files with tables into a service',
  description:
    'Sends a package, files with tables, or JSON Lines of items to a service, which checks them and stores all of it ' +
    'or nothing. Several files become several sections.',
  arguments: {
    paths: [
      '<files...>',
      'a .pkg.zip file, or CSV, TSV, JSON, JSON Lines, Parquet or text files; - for standard input',
    ],
  },
  options: {
    name: text(
      '--name <name>',
      'name of the dataset (default: the name in the manifest, else the file name)',
    ),
    description: text(
      '--description <text>',
      'description of the dataset (default: the description in meta.json)',
    ),
    handle: handle(),
    ifExists: ifExists(),
    convert: flag('--convert', 'convert an older archive'),
    inBackground: background(),
    ...tableFlags(),
  },
  examples: [
    'svc-pkg upload gsm8k.pkg.zip',
    'svc-pkg upload questions.csv --name "My set" --prompt-column question --answer-column answer',
    'svc-pkg upload questions.csv --handle my-set --if-exists version --prompt-column question --answer-column answer',
    'svc-pkg upload train.csv test.csv --prompt-column question',
    'svc-pkg upload gsm8k.pkg.zip --name "GSM8K" --api-url https://datasets.example.org',
  ],
  async run({ paths, inBackground, ...options }, cli, open) {
    const { name, description, handle, ifExists, convert } = options;
    checkName(name);
    const fields = {
      ...given({ name, description, handle }),
      ...(await tableFields(options)),
      ...(convert && { convert: 'true' }),
    };
    const service = await open();
    const how = { fields, inBackground, ...given({ ifExists }) };
    const outcome = await sendFiles(cli, service, paths, (sources, sending) =>
      uploadFile(sources, { ...sending, ...how }),
    );
    const dataset = await storedDataset(cli, service, outcome);
    await printReport(cli, datasetResult(dataset));
    const { id, run_id: runId } = dataset.value;
    const next =
      runId === undefined
        ? `svc-pkg run ${id} --set provider.type=echo, or svc-pkg open ${id}`
        : `svc-pkg results ${runId}, or svc-pkg open --run ${runId}`;
    await printHint(cli, `Next: ${next}`);
  },
});

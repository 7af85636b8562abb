import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { datasetNameOf } from '@svc/tabular/datasets';
import { generatorOf } from '../cli-context.ts';
import { usageError } from '../errors/cli-error.ts';
import { openFiles } from '../local/open-files.ts';
import { fileNameOf, packFiles, writtenResult } from '../local/pack-files.ts';
import { isFolder } from '../output/output-file.ts';
import { outputPackage, packageOutput, withDefaultOutput } from '../output/package-output.ts';
import { showProgress } from '../output/progress.ts';
import { checkName, operation, text } from './define-operation.ts';
import { hintsOf, mappingOf, tableFlags } from './table-flags.ts';

export const pack = operation({
  summary: 'make a package of CSV, JSON, Parquet and text files',
  description:
    'Turns each row into an item by a mapping, or takes the lines of JSON Lines files as items, and writes a package: ' +
    'the same items, with the same version hash, as an upload of the files. Several files become several sections.',
  arguments: { paths: ['<files...>', 'files, or folders with files, - for standard input'] },
  options: {
    name: text('--name <name>', 'name of the dataset (default: the name of the first file or folder)'),
    description: text('--description <text>', 'description of the dataset'),
    ...packageOutput('<name>.pkg.zip next to the first file'),
    ...tableFlags(),
  },
  service: false,
  examples: [
    'svc-pkg pack questions.csv --prompt-column question --answer-column answer',
    'svc-pkg pack data/ --name "My set" --mapping mapping.json',
    'duckdb -csv -c "SELECT ..." | svc-pkg pack - --prompt-column q --name Q > q.pkg.zip',
  ],
  async run({ paths, ...options }, cli) {
    checkName(options.name);
    const given = await mappingOf(options);
    const [input = ''] = paths;
    await using opened = await openFiles(cli, paths, { hints: hintsOf(options), isMapped: given !== null });
    const { files } = opened;
    const table = given === null ? files.find(({ detected }) => detected.areItems !== true) : undefined;
    if (table !== undefined) {
      const { format } = table.detected;
      const kind = format === 'jsonl' ? 'jsonl file without inputs in every object' : `${format} file`;
      const message = `A ${kind} needs a mapping, such as --prompt-column; see "svc-pkg preview"`;
      throw usageError(message, { location: { file: table.label } });
    }
    const { name = await defaultName(input, files), description } = options;
    const beside = join(dirname(resolve(input)), `${fileNameOf(name)}.pkg.zip`);
    const defaultPath = isAbsolute(input) ? beside : relative('', beside);
    const chosen = withDefaultOutput(options, paths);
    await outputPackage(cli, chosen, { input, defaultPath }, async (path, force) => {
      using progress = showProgress(cli, 'packing', 'items');
      const onProgress = (items: number): void => progress.update(items, null);
      const how = { force, generator: generatorOf(cli), signal: cli.signal, onProgress };
      const written = await packFiles(opened, given, { name, description }, path, how);
      return (output) => writtenResult({ input: paths, output, name }, written);
    });
  },
});

async function defaultName(input: string, files: readonly { readonly name: string }[]): Promise<string> {
  const isNamedFolder = input !== '-' && (await isFolder(input));
  return datasetNameOf(isNamedFolder ? [{ name: basename(resolve(input)) }] : files);
}

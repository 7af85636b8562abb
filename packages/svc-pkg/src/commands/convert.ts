import { basename, dirname, join } from 'node:path';
import { convertTool, TOOLS, type Tool, type ToolFile, WRITTEN_TOOLS } from '@svc/formats';
import { convertLegacyFile, legacyOutputPath } from '@svc/pkg-format/node';
import { CleanUp } from '../clean-up.ts';
import { type Cli, generatorOf, given } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { convertTo } from '../local/convert-to-tool.ts';
import { refuseLog } from '../local/open-files.ts';
import { replaceableFile } from '../output/output-file.ts';
import {
  checkOutputOfSeveral,
  outputPackage,
  packageOutput,
  type WriteOptions,
  withDefaultOutput,
} from '../output/package-output.ts';
import { eachPath } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { inputNames, isUnnamed, openInputFile, openSource } from '../package/input-file.ts';
import { entryOf } from '../package/open-local-package.ts';
import { conversionResult, toolResult } from '../text/conversion-text.ts';
import { checkName, choice, flag, number, operation, text, type Values } from './define-operation.ts';

const OPTIONS = {
  name: text('--name <name>', 'name of the dataset (default: the name in the archive, else the file name)'),
  from: choice('--from <tool>', 'the tool that wrote the files', TOOLS),
  to: choice('--to <tool>', 'the tool that is to read the package: its run, else its dataset', WRITTEN_TOOLS),
  model: text('--model <name>', 'with --to openai-batch: the model of the requests'),
  datasetOnly: flag('--dataset-only', 'with --to: the dataset, also of a package with a run'),
  prompt: number(
    '--prompt <n>',
    'with --from promptfoo: only the results of this prompt and provider (promptIdx, from 0)',
    { min: 0, max: 1_000_000 },
  ),
  keepSource: flag('--keep-source', 'with --from: keep the row of the tool in each item, as meta.source_row'),
  strict: flag('--strict', 'with --from or --to: fail if anything has no place'),
  ...packageOutput('<file>.pkg.zip in the folder of the file'),
};

type Options = Values<typeof OPTIONS>;

export const convert = operation({
  summary: 'turn legacy archives and files of other tools into packages',
  description:
    'Turns a legacy archive into a package and reports what it changed. It drops nothing: members without an ' +
    'equivalent stay as they are. The same archive always gives the same package. With --from, the files of ' +
    'another tool become one package: a dataset, and a run if they hold results; the report counts what has no place.',
  arguments: {
    inputs: ['<files...>', '.zip files, or with --from files of that tool; - for standard input'],
  },
  options: OPTIONS,
  service: false,
  examples: [
    'svc-pkg convert old.zip',
    'svc-pkg convert old.zip --name "GSM8K" --output packages/',
    'svc-pkg convert old/*.zip --output packages/',
    'svc-pkg convert old.zip --output - | ssh backup "cat > new.pkg.zip"',
    'svc-pkg convert --from lm-eval samples_gsm8k_*.jsonl results_*.json --output gsm8k.pkg.zip',
    'svc-pkg convert --to inspect run.pkg.zip',
  ],
  async run({ inputs, ...options }, cli) {
    checkName(options.name);
    const { from, to, keepSource, strict, prompt } = options;
    if (from !== undefined && to !== undefined)
      throw new CliError('usage', '--from and --to exclude each other');
    if (from !== undefined) return await convertFiles(cli, inputs, from, options);
    if (to === undefined && (keepSource !== undefined || strict !== undefined))
      throw new CliError('usage', '--keep-source and --strict need --from or --to');
    if (to === undefined && prompt !== undefined) throw new CliError('usage', '--prompt needs --from');
    await checkOutputOfSeveral(inputs, options);
    await eachPath(cli, inputs, (out, input) =>
      to === undefined ? convertOne(out, input, options) : convertTo(out, input, to, options),
    );
  },
});

async function convertFiles(
  cli: Cli,
  inputs: readonly string[],
  tool: Tool,
  options: Options,
): Promise<void> {
  await using opened = new CleanUp();
  const files: ToolFile[] = [];
  const names = inputNames(inputs);
  for (const [index, path] of inputs.entries()) {
    const input = opened.use(await openInputFile(cli, path));
    const source = await openSource(input.path, path);
    opened.defer(() => source.close());
    files.push({ name: names[index] ?? path, source });
  }
  const [input = ''] = inputs;
  const bare = basename(input).replace(/\.(?:jsonl|json|eval|ya?ml|csv)$/i, '');
  const defaultPath = join(dirname(input), `${bare}.pkg.zip`);
  const chosen = withDefaultOutput(options, inputs);
  const { name, keepSource, strict, prompt } = options;
  await outputPackage(cli, chosen, { input, defaultPath }, async (target, force) => {
    const further = (number: number): Promise<string> =>
      replaceableFile(target.replace(/((?:\.pkg)?\.zip)?$/i, `.prompt-${number}$1`), force);
    const [first, ...others] = await convertTool(tool, files, {
      ...{ output: target, name, force, generator: generatorOf(cli), signal: cli.signal, prompt },
      // Standard output takes one package.
      ...(chosen.output === '-' ? {} : { further }),
      ...given({ keepSource, strict }),
    });
    if (first === undefined) throw new Error('The files of a tool become at least one package.');
    return (shown) => toolResult(inputs, [{ ...first, output: shown }, ...others]);
  });
}

/** @throws CliError `usage` for a log, `io_error` */
async function checkArchive(input: string, path: string): Promise<void> {
  const source = await openSource(input, path);
  await refuseLog({ name: path, source }, path).finally(() => source.close());
}

async function convertOne(cli: Cli, path: string, options: WriteOptions): Promise<void> {
  await using file = await openInputFile(cli, path);
  const input = file.path;
  await checkArchive(input, path);
  const chosen = withDefaultOutput(options, [path]);
  const defaultPath = legacyOutputPath(isUnnamed(path) ? 'stdin' : path);
  const source = { input, shown: path, nameEntry: entryOf(path), defaultPath };
  await outputPackage(cli, chosen, source, async (target, force) => {
    using progress = showProgress(cli, 'converting');
    const report = await convertLegacyFile(input, {
      ...{ output: target, force, generator: generatorOf(cli) },
      ...{ signal: cli.signal, onRead: progress.update },
      ...given({ name: options.name }),
      fallbackName: basename(defaultPath, '.pkg.zip'),
    });
    return (output) => conversionResult(path, { ...report, output });
  });
}

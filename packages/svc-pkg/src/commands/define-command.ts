import { isDatasetName, MAX_NAME_LENGTH } from '@svc/jsonl-v23/internal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { checkOutputOfSeveral, type PackageOutputOptions } from '../output/package-output.ts';
import { eachPath } from '../output/print.ts';
import { API_KEY_VARIABLE, API_URL_VARIABLE, DEFAULT_API_URL } from '../service/open-service.ts';

/** Adds example command lines to a command's help. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText(
    'after',
    `\nExamples:\n${examples.map((example) => `  $ ${example}\n`).join('')}`,
  );
}

/** The address of the service. */
export function apiUrlOption(): Option {
  return new Option(
    '--api-url <url>',
    `URL of the service (default: the environment variable ${API_URL_VARIABLE}, else the last login, else ${DEFAULT_API_URL})`,
  );
}

/** Adds the options of commands that use a service. */
export function withServiceOptions(command: Command): Command {
  return command
    .optionsGroup('Service:')
    .addOption(apiUrlOption())
    .option(
      '--api-key-env <name>',
      `the environment variable with the API key (default: ${API_KEY_VARIABLE}, else the key of the login); there is no option for the key itself, ` +
        'because every user of a machine can list its command lines',
    );
}

/** Adds the options of commands that make a version. */
export function withChangeOptions(command: Command): Command {
  return command
    .option('-m, --message <text>', 'what the history says of the change')
    .option(
      '--if-match <hash>',
      'change nothing unless this is the version hash of the newest version (default: change the newest, whichever it is)',
    );
}

/** Adds the options of commands that make the service read the hub. */
export function withHubOptions(command: Command): Command {
  return command
    .option(
      '--split <split>',
      'the split, or a slice of it such as "train[:100]" (default: the only split, else train)',
    )
    .option('--subset <name>', 'the subset (default: the default subset of the dataset)')
    .option('--revision <revision>', 'branch, tag or commit (default: main)')
    .option(
      '--hub-token-env <name>',
      'the environment variable with a hub token to send with the request (default: the token of the service)',
    );
}

/** A worker does the work, which may take longer than a connection lasts, unless you ask for one request. */
export function backgroundOption(): Option {
  return new Option(
    '--no-background',
    'do it within one request (default: as a job of the service, which continues if you interrupt this command)',
  );
}

/** An option whose value is a whole number within a range. */
export function countOption(
  flags: string,
  description: string,
  min: number,
  max: number,
  fallback?: number,
): Option {
  const option = new Option(flags, description).argParser((text: string) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  });
  return fallback === undefined ? option : option.default(fallback);
}

/** How many entries of a list are printed. */
export function limitOption(): Option {
  return countOption('--limit <count>', 'how many to list', 1, 10_000, 50);
}

/** The handle of a new dataset. */
export function handleOption(): Option {
  return new Option('--handle <handle>', 'a short name that is unique, for commands and URLs').argParser(
    (text: string) => {
      if (text !== '') return text;
      throw new InvalidArgumentError('It must not be empty.');
    },
  );
}

/** What to do with a dataset that exists. */
export function ifExistsOption(): Option {
  return new Option(
    '--if-exists <what>',
    'if a dataset with this handle exists (without a handle: one with this name and content): reuse returns it, ' +
      'version stores the content as its next version, error fails (default: make another dataset)',
  ).choices(['reuse', 'version', 'error']);
}

/** What a run may cost. */
export function maxCostOption(): Option {
  return new Option(
    '--max-cost <amount>',
    'the most that the run may cost, in the currency of its price; it stops before, with exit code 4',
  ).argParser((text: string) => {
    const amount = Number(text);
    if (text.trim() !== '' && Number.isFinite(amount) && amount >= 0) return amount;
    throw new InvalidArgumentError('It must be a number of at least 0.');
  });
}

/** An option whose value is a number, perhaps within a range. */
export function numberOption(
  flags: string,
  description: string,
  range?: { readonly min: number; readonly max: number },
): Option {
  return new Option(flags, description).argParser((text: string) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    const { min, max } = range ?? { min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      range === undefined ? 'It must be a number.' : `It must be a number from ${min} to ${max}.`,
    );
  });
}

/** How many items may have failed. */
export function maxFailedOption(): Option {
  return countOption('--max-failed <count>', 'fail if more items failed', 0, 999_999_999, 0);
}

/** The chance to see a drop. */
export function powerOption(): Option {
  return numberOption('--power <chance>', 'the chance to see such a drop', { min: 0.5, max: 0.999 }).default(
    0.8,
  );
}

/** Adds the options of commands that wait for a run. */
export function withRunLimits(command: Command): Command {
  return command
    .option('--no-wait', 'end when the run is queued')
    .addOption(maxFailedOption())
    .addOption(numberOption('--min-score <score>', 'fail if the mean score is lower'));
}

/**
 * Adds the options of commands that write a package.
 *
 * @param defaultOutput where it is written without them, in words
 */
export function withOutputOptions(command: Command, defaultOutput: string): Command {
  return command
    .option(
      '-o, --output <path>',
      `file or folder to write to, - for standard output (default: ${defaultOutput})`,
    )
    .option('-f, --force', 'replace an existing output');
}

/** The options of commands that write a package for each input. */
export interface WriteOptions extends PackageOutputOptions {
  readonly name?: string;
}

/** Lets a command write a package for each input. @param defaultOutput as in {@link withOutputOptions} */
export function writesPackages(
  command: Command,
  cli: Cli,
  defaultOutput: string,
  write: (cli: Cli, input: string, options: WriteOptions) => Promise<void>,
): void {
  withOutputOptions(command, defaultOutput).action(
    async (inputs: readonly string[], options: WriteOptions) => {
      checkName(options.name);
      await checkOutputOfSeveral(inputs, options);
      await eachPath(cli, inputs, (out, input) => write(out, input, options));
    },
  );
}

/**
 * Checks the name of a dataset.
 *
 * @throws CliError `usage`
 */
export function checkName(name: string | undefined): void {
  if (name === undefined || isDatasetName(name)) return;
  const rule = `1 to ${MAX_NAME_LENGTH} characters, not all of them blank, and no control characters`;
  throw new CliError('usage', `--name must have ${rule}`);
}

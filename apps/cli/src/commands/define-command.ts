import { type Command, InvalidArgumentError, Option } from 'commander';
import { API_KEY_VARIABLE, API_URL_VARIABLE, DEFAULT_API_URL } from '../service/service-options.ts';

/** Adds examples to a command's help, as they would be typed. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText(
    'after',
    `\nExamples:\n${examples.map((example) => `  $ ${example}\n`).join('')}`,
  );
}

/** The options of every command that talks to a service. */
export function withServiceOptions(command: Command): Command {
  return command
    .optionsGroup('Service:')
    .option(
      '--api-url <url>',
      `the service to talk to (default: the environment variable ${API_URL_VARIABLE}, else ${DEFAULT_API_URL})`,
    )
    .option(
      '--api-key-env <name>',
      `the environment variable that holds the API key (default: ${API_KEY_VARIABLE}); a key is never an option, ` +
        'because every user of a machine can list its command lines',
    );
}

/** The options of every command that makes the service read the hub. */
export function withHubOptions(command: Command): Command {
  return command
    .option(
      '--split <split>',
      'the split, or a slice of it such as "train[:100]" (default: the only one, else train)',
    )
    .option('--subset <name>', 'the subset (default: the one that the dataset itself names)')
    .option('--revision <revision>', 'branch, tag or commit (default: main)')
    .option(
      '--hub-token-env <name>',
      'the environment variable that holds a hub token to send with the request (default: the service uses its own)',
    );
}

/** Lets a worker do what may take longer than a connection lasts. */
export function backgroundOption(): Option {
  return new Option(
    '--background',
    'let a worker of the service do it and follow its job; the job goes on when this command is interrupted',
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

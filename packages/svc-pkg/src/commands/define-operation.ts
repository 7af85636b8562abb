import { isDatasetName, MAX_NAME_LENGTH } from '@svc/jsonl-v23';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { API_KEY_VARIABLE, API_URL_VARIABLE, type Cli, DEFAULT_API_URL } from '../cli-context.ts';
import { usageError } from '../errors/cli-error.ts';
import type { ServiceOptions } from '../service/open-service.ts';
import type { ServiceClient } from '../service/service-client.ts';

declare const VALUE: unique symbol;

/** An option of a command line with a value of type `T`, which is always present or only if it is given. */
export type Flag<T = unknown, Always extends boolean = boolean> = Option & {
  readonly [VALUE]?: { readonly type: T; readonly always: Always };
};
/** Options by the names that their values have in the operation. */
export type Flags = Readonly<Record<string, Flag>>;
/** Term (`<one>`, `[perhaps]`, `<several...>`) and description. */
type Argument = readonly [term: string, description: string];
type Arguments = Readonly<Record<string, Argument>>;

type AlwaysIn<F> = { [K in keyof F]: F[K] extends Flag<infer _, true> ? K : never }[keyof F];
type TypeOf<F> = F extends Flag<infer T> ? T : never;
type Word<A> = A extends readonly [`${string}...>`, string]
  ? readonly string[]
  : A extends readonly [`<${string}`, string]
    ? string
    : string | undefined;

/** The values that a command line gives for options; members without a value are absent. */
export type Values<F> = { readonly [K in keyof F & AlwaysIn<F>]: TypeOf<F[K]> } & {
  readonly [K in Exclude<keyof F, AlwaysIn<F>>]?: TypeOf<F[K]>;
};

/** One command: what it takes, and what it does. */
interface OperationSpec<A extends Arguments, F extends Flags> {
  readonly summary: string;
  readonly description: string;
  readonly arguments?: A;
  readonly options?: F;
  /** False for a command without the options that name a service. */
  readonly service?: false;
  readonly examples: readonly string[];
  /** Commands within it, by their names; they take its options too. */
  readonly commands?: Readonly<Record<string, Operation>>;
  /** @param open makes a client for the service that the options name. @throws CliError `usage` */
  readonly run: (
    values: { readonly [K in keyof A]: Word<A[K]> } & Values<F>,
    cli: Cli,
    open: () => Promise<ServiceClient>,
  ) => Promise<void>;
}

/** Makes a command an operation: its arguments, options and help. */
export type Operation = (command: Command, cli: Cli) => void;

export function operation<
  const A extends Arguments = Record<never, never>,
  F extends Flags = Record<never, never>,
>(spec: OperationSpec<A, F>): Operation {
  const words = Object.entries<Argument>(spec.arguments ?? {});
  return (command, cli) => {
    const flags = Object.entries<Flag>(spec.options ?? {});
    command.summary(spec.summary).description(spec.description);
    for (const [, [term, description]] of words) command.argument(term, description);
    for (const [, flag] of flags) command.addOption(flag);
    if (spec.service !== false) for (const flag of serviceFlags()) command.addOption(flag);
    for (const [name, inner] of Object.entries(spec.commands ?? {})) inner(command.command(name), cli);
    withExamples(command, spec.examples);
    command.action(async () => {
      // Options of the command around this one may stand anywhere.
      const given = command.optsWithGlobals();
      const values = [
        ...words.map(([name], index) => [name, command.processedArgs[index]]),
        ...flags.map(([name, flag]) => [name, given[flag.attributeName()]]),
      ].filter(([, value]) => value !== undefined);
      await spec.run(Object.fromEntries(values), cli, async () => {
        const { openService } = await import('../service/open-service.ts');
        return openService(cli, given as ServiceOptions);
      });
    });
  };
}

export function withExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ ${example}\n`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('')}`);
}

export function grouped<F extends Flags>(heading: string, flags: F): F {
  for (const flag of Object.values(flags)) flag.helpGroup(heading);
  return flags;
}

export const text = (flags: string, description: string): Flag<string, false> =>
  new Option(flags, description);
export const texts = (flags: string, description: string): Flag<readonly string[], false> =>
  new Option(flags, description);
export const flag = (flags: string, description: string): Flag<true, false> => new Option(flags, description);
/** True, unless `--no-...` is given. */
export const unless = (flags: string, description: string): Flag<boolean, true> =>
  new Option(flags, description);
export const choice = <const T extends string>(
  flags: string,
  description: string,
  values: readonly T[],
): Flag<T, false> => new Option(flags, description).choices(values);

/** The option with a value if none is given. */
export const withDefault = <T>(option: Flag<T, false>, value: T): Flag<T, true> =>
  option.default(value) as Flag as Flag<T, true>;
/** The option, which must be given. */
export const mandatory = <T>(option: Flag<T, false>): Flag<T, true> =>
  option.makeOptionMandatory() as Flag as Flag<T, true>;

/** An option that a function reads. @param rule what it must be @param read undefined for an invalid value */
export function parsed<T>(
  flags: string,
  description: string,
  rule: string,
  read: (text: string) => T | undefined,
): Flag<T, false> {
  return new Option(flags, description).argParser((given: string) => {
    const value = read(given);
    if (value !== undefined) return value;
    throw new InvalidArgumentError(rule);
  });
}

export const count = (flags: string, description: string, min: number, max: number): Flag<number, false> =>
  parsed(flags, description, `It must be a whole number from ${min} to ${max}.`, (given) => {
    const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });

export function number(
  flags: string,
  description: string,
  range?: { readonly min: number; readonly max: number },
): Flag<number, false> {
  const { min, max } = range ?? { min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
  const rule = range === undefined ? 'It must be a number.' : `It must be a number from ${min} to ${max}.`;
  return parsed(flags, description, rule, (given) => {
    const value = given.trim() === '' ? Number.NaN : Number(given);
    return value >= min && value <= max ? value : undefined;
  });
}

export const limit = (what = 'how many to list', max = 10_000, fallback = 50) =>
  withDefault(count('--limit <count>', what, 1, max), fallback);

export const force = () => flag('-f, --force', 'replace an existing output');

export const apiUrl = () =>
  text(
    '--api-url <url>',
    `URL of the service (default: the environment variable ${API_URL_VARIABLE}, else the last login, else ${DEFAULT_API_URL})`,
  );

const serviceFlags = (): readonly Option[] => [
  apiUrl().helpGroup('Service:'),
  new Option(
    '--api-key-env <name>',
    `the environment variable with the API key (default: ${API_KEY_VARIABLE}, else the key of the login); there is no option for the key itself, ` +
      'because every user of a machine can list its command lines',
  ).helpGroup('Service:'),
];

export const hubFlags = () =>
  grouped('Rows:', {
    split: text(
      '--split <split>',
      'the split, or a slice of it such as "train[:100]" (default: the only split, else train, test or validation)',
    ),
    subset: text('--subset <name>', 'the subset (default: the default subset of the dataset)'),
    revision: text('--revision <revision>', 'branch, tag or commit (default: main)'),
    hubTokenEnv: text(
      '--hub-token-env <name>',
      'the environment variable with a hub token to send with the request (default: the token of the service)',
    ),
  });

/** @throws CliError `usage` */
export function checkName(name: string | undefined): void {
  if (name === undefined || isDatasetName(name)) return;
  const rule = `1 to ${MAX_NAME_LENGTH} characters, not all of them blank, and no control characters`;
  throw usageError(`--name must have ${rule}`);
}

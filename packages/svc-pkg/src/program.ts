import type { Writable } from 'node:stream';
import { Command, CommanderError } from 'commander';
import type { Cli, CliContext } from './cli-context.ts';
import { type Operation, withExamples } from './commands/define-operation.ts';
import { CliError, EXIT, EXIT_CODES, usageError } from './errors/cli-error.ts';
import type { Failure } from './errors/failure.ts';
import { writeText } from './output/print.ts';
import { printableValue } from './text/format.ts';

/** The commands in the order of the help, by group and name. Each is loaded when it is used. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, () => Promise<Operation>>>>> = {
  'Packages:': {
    convert: () => import('./commands/convert.ts').then(({ convert }) => convert),
    pack: () => import('./commands/pack.ts').then(({ pack }) => pack),
    check: () => import('./commands/check.ts').then(({ check }) => check),
    inspect: () => import('./commands/inspect.ts').then(({ inspect }) => inspect),
    hash: () => import('./commands/inspect.ts').then(({ hash }) => hash),
    verify: () => import('./commands/verify.ts').then(({ verify }) => verify),
    seal: () => import('./commands/seal.ts').then(({ seal }) => seal),
  },
  'Datasets of a service:': {
    export: () => import('./commands/export.ts').then(({ exportDataset }) => exportDataset),
    upload: () => import('./commands/upload.ts').then(({ upload }) => upload),
    'import-hub': () => import('./commands/import-hub.ts').then(({ importHub }) => importHub),
    preview: () => import('./commands/preview.ts').then(({ preview }) => preview),
    list: () => import('./commands/datasets.ts').then(({ list }) => list),
    show: () => import('./commands/datasets.ts').then(({ show }) => show),
    items: () => import('./commands/datasets.ts').then(({ items }) => items),
    diff: () => import('./commands/datasets.ts').then(({ diff }) => diff),
    append: () => import('./commands/changes.ts').then(({ append }) => append),
    upsert: () => import('./commands/changes.ts').then(({ upsert }) => upsert),
    edit: () => import('./commands/changes.ts').then(({ edit }) => edit),
    versions: () => import('./commands/datasets.ts').then(({ versions }) => versions),
    restore: () => import('./commands/changes.ts').then(({ restore }) => restore),
    rename: () => import('./commands/datasets.ts').then(({ rename }) => rename),
    delete: () => import('./commands/datasets.ts').then(({ deleteAll }) => deleteAll),
  },
  'Runs:': {
    run: () => import('./commands/runs/run.ts').then(({ run }) => run),
    runs: () => import('./commands/runs/runs.ts').then(({ runs }) => runs),
    results: () => import('./commands/runs/results.ts').then(({ results }) => results),
    pending: () => import('./commands/runs/results.ts').then(({ pending }) => pending),
    retry: () => import('./commands/runs/run.ts').then(({ retry }) => retry),
    rescore: () => import('./commands/runs/run.ts').then(({ rescore }) => rescore),
    cancel: () => import('./commands/runs/runs.ts').then(({ cancel }) => cancel),
    compare: () => import('./commands/runs/runs.ts').then(({ compare }) => compare),
    labels: () => import('./commands/runs/results.ts').then(({ labels }) => labels),
    agreement: () => import('./commands/runs/runs.ts').then(({ agreement }) => agreement),
    gate: () => import('./commands/runs/gate.ts').then(({ gate }) => gate),
    plan: () => import('./commands/runs/gate.ts').then(({ plan }) => plan),
  },
  'Services:': {
    login: () => import('./commands/services.ts').then(({ login }) => login),
    logout: () => import('./commands/services.ts').then(({ logout }) => logout),
    whoami: () => import('./commands/services.ts').then(({ whoami }) => whoami),
    jobs: () => import('./commands/services.ts').then(({ jobs }) => jobs),
    open: () => import('./commands/services.ts').then(({ openConsole }) => openConsole),
    mcp: () => import('./commands/mcp.ts').then(({ mcp }) => mcp),
  },
  'Databases:': {
    migrate: () => import('./commands/migrate.ts').then(({ migrate }) => migrate),
  },
  'Help:': {
    completion: () => import('./commands/completion.ts').then(({ completion }) => completion),
  },
};

/** The commands that a command line needs; undefined for all, as help and an unknown command do. */
function neededCommands(argv: readonly string[]): readonly string[] | undefined {
  const at = argv.findIndex((argument) => !argument.startsWith('-'));
  if (at === -1) return asksFor(argv, ['-V', '--version']) ? [] : undefined;
  const name = argv[at] ?? '';
  const isKnown = Object.values(COMMANDS).some((commands) => Object.hasOwn(commands, name));
  const asksForHelp = asksFor(argv.slice(0, at), ['-h', '--help']);
  return isKnown && name !== 'completion' && !asksForHelp ? [name] : undefined;
}

/** Builds the command line. @param only names of the commands; all by default */
export async function createProgram(
  cli: Cli,
  write: { out(text: string): void; err(text: string): void },
  only?: readonly string[],
): Promise<Command> {
  const program = new Command(cli.program ?? 'svc-pkg')
    .description('Converts, checks and moves dataset packages (.pkg.zip).')
    .version(cli.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help; "svc-pkg <command> --help" for one command')
    .option(
      '--json',
      'print one JSON document on standard output, errors as one on standard error; no progress bar',
    )
    .option(
      '-q, --quiet',
      'print nothing but errors, and what you asked for: no progress, no hints, no report',
    )
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => `\u001b[1m${title}\u001b[22m` })
    .configureOutput({
      writeOut: write.out,
      writeErr: write.err,
      outputError: () => {},
      getOutHelpWidth: () => cli.columns,
      getErrHelpWidth: () => cli.columns,
      getOutHasColors: () => cli.hasColours,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .hook('preAction', (_, command) => checkStandardInput(command.args));

  for (const [group, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(group);
    if (group === 'Help:') program.helpCommand('help [command]', 'print help');
    for (const [name, load] of Object.entries(commands)) {
      if (name === 'migrate' && cli.database === null) continue;
      if (only === undefined || only.includes(name)) (await load())(program.command(name), cli);
    }
  }

  withExamples(
    program,
    cli.program === 'svc-admin'
      ? ['svc-admin migrate', 'svc-admin export GSM8K --database']
      : ['svc-pkg convert old.zip', 'svc-pkg check old.pkg.zip', 'svc-pkg upload old.pkg.zip'],
  );
  const exitCodes = EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(3)}  ${meaning}`);
  program.addHelpText('after', `Exit codes:\n${exitCodes.join('\n')}`);
  return program;
}

/** Standard input ends once. @throws CliError `usage` if a command would read it twice */
function checkStandardInput(args: readonly string[]): void {
  const count = args.filter((arg) => arg === '-').length;
  if (count > 1) throw usageError(`Standard input (-) must be given at most once, got ${count} times`);
}

/** @returns the exit code; it has printed every error */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  let exitCode: number = EXIT.done;
  const cli: Cli = {
    ...context,
    json: asksFor(argv, ['--json']),
    quiet: asksFor(argv, ['-q', '--quiet']),
    endWith: (code) => {
      exitCode = code;
    },
  };
  const writes: Promise<void>[] = [];
  const writeTo = (stream: Writable) => (text: string) => {
    const write = writeText(stream, text);
    // Awaited below; until then a failure must not count as unhandled.
    write.catch(() => {});
    writes.push(write);
  };
  const write = { out: writeTo(cli.stdout), err: cli.json ? () => {} : writeTo(cli.stderr) };
  const program = await createProgram(cli, write, neededCommands(argv));
  try {
    await parse(program, argv);
    await Promise.all(writes);
    return exitCode;
  } catch (error) {
    await Promise.allSettled(writes);
    const { printError, toFailure } = await import('./errors/failure.ts');
    const failure = toFailure(cli.signal.aborted && !saysWhereItStopped(error) ? cli.signal.reason : error);
    const hint =
      failure.code === 'usage' && failure.hint === undefined && !isHelp(error)
        ? helpHint(program, argv)
        : cli.quiet
          ? undefined
          : (failure.hint ?? nextCommand(failure, argv));
    if (!isHelp(error) || cli.json)
      await printError(cli.stderr, failure, {
        json: cli.json,
        program: program.name(),
        ...(hint && { hint }),
      });
    return failure.exitCode;
  }
}

/** Commander also throws after help and version, with exit code 0. */
async function parse(program: Command, argv: readonly string[]): Promise<void> {
  const [command, topic] = argv.filter((argument) => !argument.startsWith('-'));
  if (argv.length === 0) {
    program.outputHelp();
    return;
  }
  if (
    [command, command === 'help' ? topic : undefined].includes('migrate') &&
    !isCommand(program, 'migrate')
  ) {
    throw usageError('Databases are migrated by svc-admin migrate', {
      hint: 'It belongs to a deployment: image svc-cli, or apps/cli of a built workspace',
    });
  }
  if (command === 'help' && topic !== undefined && !isCommand(program, topic)) {
    throw usageError(`Unknown command '${topic}'`);
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const message =
      error.code === 'commander.help'
        ? 'Missing command'
        : error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    throw usageError(message.charAt(0).toUpperCase() + message.slice(1), { cause: error });
  }
}

/** Commander prints the whole help for `help` with an unknown command. */
function isCommand(program: Command, name: string): boolean {
  return name === 'help' || program.commands.some((command) => command.name() === name);
}

function isHelp(error: unknown): boolean {
  return (
    error instanceof Error && error.cause instanceof CommanderError && error.cause.code === 'commander.help'
  );
}

/** Whether a command that was stopped says how to continue it. */
const saysWhereItStopped = (error: unknown): boolean =>
  error instanceof CliError && (error.code === 'interrupted' || error.code === 'terminated');

/** Looks before parsing, so that parsing errors are JSON too. */
function asksFor(argv: readonly string[], flags: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).some((argument) => flags.includes(argument));
}

function helpHint(program: Command, argv: readonly string[]): string {
  const names = [program.name()];
  let command: Command | undefined = program;
  for (const argument of argv.filter((one) => !one.startsWith('-'))) {
    command = command.commands.find((candidate) => candidate.name() === argument);
    if (command === undefined) break;
    names.push(argument);
  }
  return `See ${names.join(' ')} --help`;
}

function nextCommand({ code, location }: Failure, argv: readonly string[]): string | undefined {
  const [command] = argv.filter((argument) => !argument.startsWith('-'));
  // The archive of an entry, or the file itself.
  const named = location.file?.split('!/')[0];
  const file = named ?? argv.find((argument) => FILE_NAME.test(argument)) ?? '<file>';
  if (command === 'convert' && code === 'package_no_sections')
    return `If it has files with tables: svc-pkg pack ${printableValue(file)}`;
  if (command === 'login' && code === 'unauthenticated') return 'The service does not know this key';
  // These have reported every error.
  if ((command === 'convert' || command === 'seal') && code === 'package_invalid_line') return undefined;
  if (code === 'package_not_a_zip' && !TABLE_NAME.test(file)) return undefined;
  return NEXT_COMMANDS[code]?.(file);
}

const TABLE_NAME = /\.(?:csv|tsv|jsonl?|parquet|txt)(?:\.gz|\.zst)?$/i;
const FILE_NAME = /\.(?:zip|csv|tsv|jsonl?|parquet|txt|gz|zst)$/i;

const NEXT_COMMANDS: Readonly<Record<string, (file: string) => string>> = {
  package_no_sections: (file) => `If it is a legacy archive: svc-pkg convert ${printableValue(file)}`,
  package_not_a_zip: (file) => `If it has items or a table: svc-pkg pack ${printableValue(file)}`,
  hub_gated: () => 'A token of a user with access: --hub-token-env <name>',
  hub_dataset_not_found: () => 'If it is private: --hub-token-env <name>',
  service_unreachable: () =>
    'To use another service, pass --api-url <url>, or run svc-pkg login --api-url <url>',
  unauthenticated: () => 'Store a key: svc-pkg login',
  dataset_not_found: () => 'List datasets: svc-pkg list',
  version_not_found: () => 'List versions: svc-pkg versions <dataset>',
  run_not_found: () => 'List runs: svc-pkg runs',
  job_not_found: () => 'List jobs and runs: svc-pkg jobs, svc-pkg runs',
  mapping_required: (file) => `Its columns: svc-pkg preview ${printableValue(file)}`,
  package_invalid_line: (file) => `Every error with its line: svc-pkg check ${printableValue(file)}`,
};

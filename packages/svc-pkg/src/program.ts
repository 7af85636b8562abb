import type { Writable } from 'node:stream';
import { Command, CommanderError } from 'commander';
import type { Cli, CliContext } from './cli-context.ts';
import { addCheckCommand } from './commands/check.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConvertCommand } from './commands/convert.ts';
import { addAppendCommand, addUpsertCommand } from './commands/datasets/change-items.ts';
import { addDeleteCommand } from './commands/datasets/delete.ts';
import { addDiffCommand } from './commands/datasets/diff.ts';
import { addEditCommand } from './commands/datasets/edit.ts';
import { addItemsCommand } from './commands/datasets/items.ts';
import { addListCommand } from './commands/datasets/list.ts';
import { addRenameCommand } from './commands/datasets/rename.ts';
import { addRestoreCommand } from './commands/datasets/restore.ts';
import { addShowCommand } from './commands/datasets/show.ts';
import { addVersionsCommand } from './commands/datasets/versions.ts';
import { withExamples } from './commands/define-command.ts';
import { addExportCommand } from './commands/export.ts';
import { addHashCommand } from './commands/hash.ts';
import { addImportHubCommand } from './commands/import-hub.ts';
import { addInspectCommand } from './commands/inspect.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addPackCommand } from './commands/pack.ts';
import { addPreviewCommand } from './commands/preview.ts';
import { addAgreementCommand } from './commands/runs/agreement.ts';
import { addCancelCommand } from './commands/runs/cancel.ts';
import { addCompareCommand } from './commands/runs/compare.ts';
import { addGateCommand } from './commands/runs/gate.ts';
import { addLabelsCommand } from './commands/runs/labels.ts';
import { addPendingCommand } from './commands/runs/pending.ts';
import { addPlanCommand } from './commands/runs/plan.ts';
import { addRescoreCommand } from './commands/runs/rescore.ts';
import { addResultsCommand } from './commands/runs/results.ts';
import { addRetryCommand } from './commands/runs/retry.ts';
import { addRunCommand } from './commands/runs/run.ts';
import { addRunsCommand } from './commands/runs/runs.ts';
import { addSealCommand } from './commands/seal.ts';
import { addJobsCommand } from './commands/service/jobs.ts';
import { addLoginCommand } from './commands/service/login.ts';
import { addLogoutCommand } from './commands/service/logout.ts';
import { addOpenCommand } from './commands/service/open.ts';
import { addWhoamiCommand } from './commands/service/whoami.ts';
import { addUploadCommand } from './commands/upload.ts';
import { CliError, EXIT, EXIT_CODES } from './errors/cli-error.ts';
import { type Failure, printError, toFailure } from './errors/failure.ts';
import { writeText } from './output/print.ts';
import { printableValue } from './text/format.ts';

/** Builds the command line: every command with its options and help. */
export function createProgram(
  cli: Cli,
  write: { out(text: string): void; err(text: string): void },
): Command {
  const program = new Command('svc-pkg')
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

  program.commandsGroup('Packages:');
  addConvertCommand(program, cli);
  addPackCommand(program, cli);
  addCheckCommand(program, cli);
  addInspectCommand(program, cli);
  addHashCommand(program, cli);
  addSealCommand(program, cli);
  program.commandsGroup('Datasets of a service:');
  addExportCommand(program, cli);
  addUploadCommand(program, cli);
  addImportHubCommand(program, cli);
  addPreviewCommand(program, cli);
  addListCommand(program, cli);
  addShowCommand(program, cli);
  addItemsCommand(program, cli);
  addDiffCommand(program, cli);
  addAppendCommand(program, cli);
  addUpsertCommand(program, cli);
  addEditCommand(program, cli);
  addVersionsCommand(program, cli);
  addRestoreCommand(program, cli);
  addRenameCommand(program, cli);
  addDeleteCommand(program, cli);
  program.commandsGroup('Runs:');
  addRunCommand(program, cli);
  addRunsCommand(program, cli);
  addResultsCommand(program, cli);
  addPendingCommand(program, cli);
  addRetryCommand(program, cli);
  addRescoreCommand(program, cli);
  addCancelCommand(program, cli);
  addCompareCommand(program, cli);
  addLabelsCommand(program, cli);
  addAgreementCommand(program, cli);
  addGateCommand(program, cli);
  addPlanCommand(program, cli);
  program.commandsGroup('Services:');
  addLoginCommand(program, cli);
  addLogoutCommand(program, cli);
  addWhoamiCommand(program, cli);
  addJobsCommand(program, cli);
  addOpenCommand(program, cli);
  if (cli.database !== null) {
    program.commandsGroup('Databases:');
    addMigrateCommand(program, cli, cli.database);
  }

  program.commandsGroup('Help:').helpCommand('help [command]', 'print help');
  addCompletionCommand(program, cli);

  withExamples(program, [
    'svc-pkg convert old.zip',
    'svc-pkg check old.pkg.zip',
    'svc-pkg upload old.pkg.zip',
  ]);
  program.addHelpText('after', `Exit codes:\n${exitCodeLines()}`);
  return program;
}

/** Standard input ends once. @throws CliError `usage` where a command would read it twice */
function checkStandardInput(args: readonly string[]): void {
  const count = args.filter((arg) => arg === '-').length;
  if (count > 1)
    throw new CliError('usage', `Standard input (-) must be given at most once, got ${count} times`);
}

function exitCodeLines(): string {
  return EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(3)}  ${meaning}`).join('\n');
}

/**
 * Runs one command line.
 *
 * @param argv the arguments after the program's name
 * @returns the exit code; it has printed every error
 */
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
  const program = createProgram(cli, {
    out: writeTo(cli.stdout),
    err: cli.json ? () => {} : writeTo(cli.stderr),
  });
  try {
    await parse(program, argv);
    await Promise.all(writes);
    return exitCode;
  } catch (error) {
    await Promise.allSettled(writes);
    const failure = toFailure(cli.signal.aborted && !saysWhereItStopped(error) ? cli.signal.reason : error);
    const hint =
      failure.code === 'usage' && failure.hint === undefined && !isHelp(error)
        ? helpHint(program, argv)
        : cli.quiet
          ? undefined
          : (failure.hint ?? nextCommand(failure, argv));
    if (!isHelp(error) || cli.json)
      await printError(cli.stderr, failure, { json: cli.json, ...(hint && { hint }) });
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
  if (command === 'help' && topic !== undefined && !isCommand(program, topic)) {
    throw new CliError('usage', `Unknown command '${topic}'`);
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
    throw new CliError('usage', message.charAt(0).toUpperCase() + message.slice(1), { cause: error });
  }
}

/** Commander prints the whole help for `help` with an unknown command. */
function isCommand(program: Command, name: string): boolean {
  return name === 'help' || program.commands.some((command) => command.name() === name);
}

/** Whether commander printed the help instead of an error. */
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

/** Names the help of the command, or of the command within it. */
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

/** Names the command or option that helps with an error. */
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

/** The exit codes of `svc-pkg`: the one table. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  inputOutput: 3,
  fault: 70,
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each exit code stands for, as `--help` and docs/cli.md say it. */
export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: EXIT.done, meaning: 'done' },
  { code: EXIT.failed, meaning: 'the archive is not in order, `check` found something, or a request failed' },
  { code: EXIT.usage, meaning: 'wrong usage: an unknown option, a missing argument, a value that cannot be' },
  { code: EXIT.inputOutput, meaning: 'a file could not be read or written, or the output exists already' },
  { code: EXIT.fault, meaning: 'a fault of this program' },
  { code: EXIT.interrupted, meaning: 'interrupted (SIGINT)' },
  { code: EXIT.brokenPipe, meaning: 'the reader of the output went away' },
  { code: EXIT.terminated, meaning: 'terminated (SIGTERM)' },
];

/** Error codes that mean something else than "failed". */
const BY_ERROR_CODE: ReadonlyMap<string, ExitCode> = new Map([
  ['usage', EXIT.usage],
  ['io_error', EXIT.inputOutput],
  ['output_exists', EXIT.inputOutput],
  ['fault', EXIT.fault],
  ['interrupted', EXIT.interrupted],
  ['broken_pipe', EXIT.brokenPipe],
  ['terminated', EXIT.terminated],
]);

/** The exit code of a command that ended with an error of this code. */
export function exitCodeOf(errorCode: string): ExitCode {
  return BY_ERROR_CODE.get(errorCode) ?? EXIT.failed;
}

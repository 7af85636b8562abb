/** The exit codes of `svc-pkg`. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  inputOutput: 3,
  budgetSpent: 4,
  worse: 10,
  undecided: 11,
  tooFew: 12,
  fault: 70,
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each exit code means, in `--help` and docs/cli.md. */
export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: EXIT.done, meaning: 'done' },
  {
    code: EXIT.failed,
    meaning: 'the archive is invalid, `check` found something, items of a run failed, or a request failed',
  },
  { code: EXIT.usage, meaning: 'wrong usage: an unknown option, a missing argument, an invalid value' },
  { code: EXIT.inputOutput, meaning: 'a file cannot be read or written, or the output already exists' },
  { code: EXIT.budgetSpent, meaning: 'the budget of a run stopped it' },
  { code: EXIT.worse, meaning: '`gate`: the run is worse than its baseline' },
  { code: EXIT.undecided, meaning: '`gate`: too few items or repetitions to decide' },
  {
    code: EXIT.tooFew,
    meaning:
      '`gate`: people have labelled fewer results than `--min-labels`; `plan`: no number of repetitions sees the drop',
  },
  { code: EXIT.fault, meaning: 'an internal error' },
  { code: EXIT.interrupted, meaning: 'interrupted (SIGINT)' },
  { code: EXIT.brokenPipe, meaning: 'broken pipe' },
  { code: EXIT.terminated, meaning: 'terminated (SIGTERM)' },
];

/** Error codes with another exit code than "failed". */
const BY_ERROR_CODE: ReadonlyMap<string, ExitCode> = new Map([
  ['usage', EXIT.usage],
  ['io_error', EXIT.inputOutput],
  ['output_exists', EXIT.inputOutput],
  ['run_stopped', EXIT.budgetSpent],
  ['not_detectable', EXIT.tooFew],
  ['fault', EXIT.fault],
  ['interrupted', EXIT.interrupted],
  ['broken_pipe', EXIT.brokenPipe],
  ['terminated', EXIT.terminated],
]);

/** The exit code of a command that ended with an error of this code. */
export function exitCodeOf(errorCode: string): ExitCode {
  return BY_ERROR_CODE.get(errorCode) ?? EXIT.failed;
}

/** The exit code of a process that cannot start because of its configuration (`EX_CONFIG` of sysexits.h). */
export const EXIT_CONFIG = 78;

/** Every wrong variable of the environment, in one error. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_config';
  /** one sentence for each wrong variable, each beginning with its name */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

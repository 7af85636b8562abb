/** The exit code of a process that cannot start because of its configuration (`EX_CONFIG` of sysexits.h). */
export const EXIT_CONFIG = 78;

/** All invalid environment variables, in one error. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_config';
  /** One sentence per invalid variable, beginning with its name. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

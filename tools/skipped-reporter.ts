import type { Reporter, TestCase } from 'vitest/node';

/** Prints at the end of a test run which tests were skipped, and what this machine lacks. */
export default class SkippedReporter implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state === 'skipped' && result.note !== undefined) {
      this.#lines.push(`SKIPPED ${test.module.relativeModuleId}: ${test.name}: ${result.note}`);
    }
  }

  onTestRunEnd(): void {
    for (const line of this.#lines) console.log(line);
  }
}

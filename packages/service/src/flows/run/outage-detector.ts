import { RunError, type RunErrorCode, type RunResult } from '@svc/evaluation';

/** Detects a provider that stopped responding. */
interface OutageDetector {
  /**
   * Counts a result.
   *
   * @throws RunError with `endsRun` and the error of this result, if it is one too many without an answer in a row
   */
  check(result: RunResult): void;
}

/**
 * Makes a detector. Results whose provider gave no answer count; an answer begins the count again. An item that was not
 * sent, such as one without a prompt, does neither.
 *
 * @param maxFailures consecutive failures that end the run
 */
export function createOutageDetector(maxFailures: number): OutageDetector {
  let failures = 0;
  return {
    check({ error, output }) {
      if (output !== null) failures = 0;
      else if (error?.code.startsWith('provider_') === true) failures += 1;
      if (error === null || failures < maxFailures) return;
      const message = `${maxFailures} items in a row got no answer. The last error: ${error.message}`;
      const { provider_message: providerMessage = null } = error;
      throw new RunError(error.code as RunErrorCode, message, { endsRun: true, providerMessage });
    },
  };
}

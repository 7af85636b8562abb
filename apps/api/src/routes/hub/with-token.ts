import { createRedactor, runWithContext } from '@svc/observability';
import { classify } from '../../http/problem.ts';

/** Runs with the token of a request redacted in every log line, and in internal errors, which are logged afterwards. */
export async function withToken<T>(token: string | undefined, run: () => Promise<T>): Promise<T> {
  if (token === undefined) return await run();
  try {
    return await runWithContext({}, run, { secrets: [token] });
  } catch (error) {
    throw classify(error).code === 'internal' ? withoutToken(error, token) : error;
  }
}

function withoutToken(error: unknown, token: string): Error {
  const redact = createRedactor([token]);
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const redacted = new Error(redact(message));
  redacted.name = name;
  redacted.stack = redact(stack ?? '');
  return redacted;
}

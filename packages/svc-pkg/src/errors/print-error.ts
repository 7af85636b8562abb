import type { Writable } from 'node:stream';
import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import { writeText } from '../output/write-text.ts';
import { printableJson, printableText } from '../text/printable-text.ts';
import type { Failure } from './failure.ts';

/** One error, as it is printed in one line. */
export interface LocatedMessage {
  readonly location: SourceLocation;
  readonly message: string;
  /** Absent where it is unknown. */
  readonly code?: string | undefined;
}

/**
 * `file:line:column: message (code)`, the form that editors and terminals turn into links. A JSON Pointer follows the
 * message unless the message contains it. The message loses its full stop. Without a file, the line begins with
 * `fallback`.
 */
export function errorLine({ location, message, code }: LocatedMessage, fallback = 'svc-pkg'): string {
  const { path, ...position } = location;
  const where = formatLocation(position) || fallback;
  const pointer = path === undefined || path === '' || message.includes(path) ? '' : ` at ${path}`;
  const suffix = code === undefined ? '' : ` (${code})`;
  return printableText(`${where}: ${message.replace(/\.$/, '')}${pointer}${suffix}`);
}

/** Prints how a command failed: lines for people, or one JSON document. Prints nothing for a broken pipe. */
export async function printError(
  stderr: Writable,
  failure: Failure,
  options: { readonly json: boolean; readonly hint?: string },
): Promise<void> {
  if (failure.code === 'broken_pipe') return;
  const text = options.json
    ? `${printableJson(JSON.stringify({ error: errorDocument(failure) }))}\n`
    : errorText(failure, options.hint);
  // If standard error is closed, the exit code has to do.
  await writeText(stderr, text).catch(() => undefined);
}

function errorText(failure: Failure, hint: string | undefined): string {
  const { response, errors = [], errorsTotal = errors.length } = failure;
  const details = errors.map(({ message, code, count, ...location }) => ({
    message: count === undefined ? message : `${count} x ${message}`,
    // The code of a response is that of its first error; it gives none for the others.
    code: code ?? (message === failure.message ? failure.code : undefined),
    location,
  }));
  // The failure is the first of the errors, in a response perhaps without its location.
  const isRepeated = details[0]?.message === failure.message;
  const lines = (isRepeated ? details : [failure, ...details]).map((line) => errorLine(line));
  const more = errorsTotal - details.length;
  if (more > 0) lines.push(`  ... and ${more} more`);
  if (response?.retryAfterSeconds !== undefined)
    lines.push(`  Try again in ${response.retryAfterSeconds} s.`);
  if (response !== undefined && response.status >= 500 && response.requestId !== undefined) {
    lines.push(`  Request ID: ${printableText(response.requestId)}`);
  }
  if (hint !== undefined) lines.push(hint);
  return `${lines.join('\n')}\n`;
}

function errorDocument(failure: Failure): Record<string, unknown> {
  const { code, message, location, exitCode, response, errors = [], errorsTotal } = failure;
  return {
    code,
    message,
    exit_code: exitCode,
    ...location,
    ...(response && {
      status: response.status,
      request_id: response.requestId,
      retry_after_seconds: response.retryAfterSeconds,
    }),
    ...(errors.length > 0 && { errors, errors_total: errorsTotal }),
  };
}

import type { Writable } from 'node:stream';
import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import { writeText } from '../output/write-text.ts';
import { printableJson, printableText } from '../text/printable-text.ts';
import type { Failure } from './failure.ts';

/** What can be said of one place in one line. */
export interface LocatedMessage {
  readonly location: SourceLocation;
  readonly message: string;
  readonly code: string;
}

/**
 * `file:line:column: message (code)`, the form that editors and terminals turn into links. A JSON Pointer that the
 * message does not name itself stands after it. Without a file, `fallback` stands in its place.
 */
export function errorLine({ location, message, code }: LocatedMessage, fallback = 'svc-pkg'): string {
  const { path, ...position } = location;
  const where = formatLocation(position) || fallback;
  const pointer = path === undefined || path === '' || message.includes(path) ? '' : ` at ${path}`;
  return printableText(`${where}: ${message}${pointer} (${code})`);
}

/** Prints how a command failed: lines for people, or one JSON document. A broken pipe has nobody to read it. */
export async function printError(
  stderr: Writable,
  failure: Failure,
  options: { readonly json: boolean; readonly hint?: string },
): Promise<void> {
  if (failure.code === 'broken_pipe') return;
  const text = options.json
    ? `${printableJson(JSON.stringify({ error: errorDocument(failure) }))}\n`
    : errorText(failure, options.hint);
  // Where nobody listens, the exit code says enough.
  await writeText(stderr, text).catch(() => undefined);
}

function errorText(failure: Failure, hint: string | undefined): string {
  const { answer } = failure;
  const places = (answer?.errors ?? []).map(({ message, code = failure.code, ...location }) => ({
    message,
    code,
    location,
  }));
  // The only thing that is wrong is what the answer's own sentence says: the place says more.
  const isSaidTwice = answer?.errorsTotal === 1 && places[0]?.message === failure.message;
  const lines = (isSaidTwice ? places : [failure, ...places]).map((line) => errorLine(line));
  const more = (answer?.errorsTotal ?? 0) - places.length;
  if (more > 0) lines.push(`  ... and ${more} more`);
  if (answer?.retryAfterSeconds !== undefined) lines.push(`  Try again in ${answer.retryAfterSeconds} s.`);
  if (answer !== undefined && answer.status >= 500 && answer.requestId !== undefined) {
    lines.push(`  The service knows it as request ${printableText(answer.requestId)}.`);
  }
  if (hint !== undefined) lines.push(hint);
  return `${lines.join('\n')}\n`;
}

function errorDocument({ code, message, location, exitCode, answer }: Failure): Record<string, unknown> {
  return {
    code,
    message,
    exit_code: exitCode,
    ...location,
    ...(answer && {
      status: answer.status,
      request_id: answer.requestId,
      retry_after_seconds: answer.retryAfterSeconds,
      ...(answer.errors.length > 0 && { errors: answer.errors, errors_total: answer.errorsTotal }),
    }),
  };
}

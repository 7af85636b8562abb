import type { Logform } from 'winston';
import type { LogContext } from './context.ts';
import { createRedactor, type Redactor } from './redact.ts';
import { type Loggable, setMember, toLoggable } from './to-loggable.ts';

/** What winston gives a format for one line. */
export interface LineInfo extends Logform.TransformableInfo {
  /** Name of the event. */
  readonly message: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string;
  readonly service: string;
  readonly context: LogContext;
  readonly fields: Readonly<Record<string, unknown>>;
}

const MESSAGE = Symbol.for('message'); // where winston's transports look for the text of a line
const CONTEXT_IDS = ['request_id', 'run_id', 'job_id'] as const;
const STANDARD_KEYS: ReadonlySet<string> = new Set([
  'timestamp',
  'level',
  'service',
  'event',
  ...CONTEXT_IDS,
]);

/**
 * Formats a line: `timestamp`, `level`, `service`, `event`, the ids of the context, then the event's own fields in
 * their order. A field with the name of a standard key is written as `field_<name>`, so that it overwrites nothing; so is
 * a field whose name is a number, because JavaScript objects put such names first.
 *
 * The line is JSON. It escapes the characters that some readers take for line ends (U+0085, U+2028, U+2029). The format
 * never throws.
 *
 * @param redact removes the secrets of the process; the format also removes those of the context
 */
export function lineFormat(redact: Redactor): Logform.Format {
  return {
    transform(info) {
      const line = toLine(info as LineInfo, redact);
      return Object.assign(info, { [MESSAGE]: escapeLineEnds(JSON.stringify(line)) });
    },
  };
}

function toLine(info: LineInfo, processRedact: Redactor): Record<string, Loggable> {
  const { timestamp, level, service, message: event, context } = info;
  const redact = withSecrets(processRedact, context.secrets ?? []);
  const line: Record<string, Loggable> = { timestamp, level, service, event };
  for (const name of CONTEXT_IDS) {
    const id = context[name];
    if (id !== undefined) line[name] = redact(id);
  }
  const fields = toLoggable(info.fields, { redact, stacks: level === 'error' });
  if (fields !== null && typeof fields === 'object' && !Array.isArray(fields)) {
    for (const [name, value] of Object.entries(fields)) setMember(line, freeName(name, line), value);
  }
  return line;
}

function withSecrets(redact: Redactor, secrets: readonly string[]): Redactor {
  if (secrets.length === 0) return redact;
  const own = createRedactor(secrets);
  return (text) => redact(own(text));
}

/** A name that no standard key and no earlier field has. */
function freeName(name: string, line: object): string {
  let free = STANDARD_KEYS.has(name) || /^\d+$/.test(name) ? `field_${name}` : name;
  while (Object.hasOwn(line, free)) free = `field_${free}`;
  return free;
}

function escapeLineEnds(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

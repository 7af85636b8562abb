import type { LogContext } from './context.ts';
import type { LogLevel } from './events.ts';
import { type JsonSafe, setMember, toJsonSafe } from './json-safe.ts';
import { createRedactor, type Redactor } from './redact.ts';

/** What becomes one line of the log. */
export interface LogInput {
  readonly time: Date;
  readonly level: LogLevel;
  readonly service: string;
  readonly event: string;
  readonly context: LogContext;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Takes out the secrets that the process knows; those of the context are taken out besides. */
  readonly redact?: Redactor;
}

/** A line as an object: its keys stand in the order in which they are written. */
export type LogRecord = { [key: string]: JsonSafe };

const standardKeys: ReadonlySet<string> = new Set([
  'timestamp',
  'level',
  'service',
  'event',
  'request_id',
  'run_id',
  'job_id',
]);

/**
 * Puts one line together: `timestamp`, `level`, `service`, `event`, then the ids that the context has, then
 * the event's own fields in their order. A field that has a standard key's name becomes `field_<name>`, so
 * that nothing is overwritten and nothing lost; so does one whose name is a number, which a JavaScript object
 * would move to the front. Pure, and total: it throws for no input.
 */
export function toLogRecord(input: LogInput): LogRecord {
  const redact = redactorFor(input);
  const record: LogRecord = {
    timestamp: input.time.toISOString(),
    level: input.level,
    service: input.service,
    event: input.event,
  };
  for (const name of ['request_id', 'run_id', 'job_id'] as const) {
    const id = input.context[name];
    if (id !== undefined) record[name] = redact(id);
  }
  const fields = toJsonSafe(input.fields, { redact, stacks: input.level === 'error' });
  if (fields === undefined || fields === null || typeof fields !== 'object' || Array.isArray(fields))
    return record;
  for (const name of Object.keys(fields)) setMember(record, freeName(name, record), fields[name] ?? null);
  return record;
}

/**
 * The text of a line without its line end: JSON, in which also the characters are escaped that some readers
 * take for line ends (U+0085, U+2028, U+2029).
 */
export function formatLogRecord(record: LogRecord): string {
  return JSON.stringify(record).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function redactorFor(input: LogInput): Redactor {
  const known = input.redact ?? createRedactor([]);
  const secrets = input.context.secrets ?? [];
  if (secrets.length === 0) return known;
  const own = createRedactor(secrets);
  return (text) => known(own(text));
}

function freeName(name: string, record: LogRecord): string {
  let free = standardKeys.has(name) || /^\d+$/.test(name) ? `field_${name}` : name;
  while (Object.hasOwn(record, free)) free = `field_${free}`;
  return free;
}

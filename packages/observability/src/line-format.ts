import type { Logform } from 'winston';
import type { ContextFields } from './context.ts';
import { createRedactor, type Redactor } from './redact.ts';
import { type Loggable, setMember, toLoggable } from './to-loggable.ts';

export interface LineInfo extends Logform.TransformableInfo {
  readonly message: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string;
  readonly service: string;
  readonly context: ContextFields;
  readonly secrets: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

const MESSAGE = Symbol.for('message'); // where winston's transports look for the text of a line
const STANDARD_KEYS = ['timestamp', 'level', 'service', 'event'] as const;

/**
 * Formats a line: `timestamp`, `level`, `service`, `event`, the fields of the context, then the event's own fields in
 * their order. A field with the name of a standard key is written as `field_<name>`, so that it overwrites nothing; so is
 * a field whose name is a number, because JavaScript objects put such names first.
 *
 * The line is JSON. It escapes the characters that some readers take for line ends (U+0085, U+2028, U+2029). The format
 * never throws.
 */
export function lineFormat(
  redact: Redactor,
  contextFields: readonly string[] = [],
  format?: (line: Readonly<Record<string, unknown>>) => string,
): Logform.Format {
  const reserved: ReadonlySet<string> = new Set([...STANDARD_KEYS, ...contextFields]);
  return {
    transform(info) {
      const line = toLine(info as LineInfo, redact, contextFields, reserved);
      const text = format === undefined ? escapeLineEnds(JSON.stringify(line)) : inOneLine(format(line));
      return Object.assign(info, { [MESSAGE]: text });
    },
  };
}

function toLine(
  info: LineInfo,
  processRedact: Redactor,
  contextFields: readonly string[],
  reserved: ReadonlySet<string>,
): Record<string, Loggable> {
  const { timestamp, level, service, message: event } = info;
  const redact = withSecrets(processRedact, info.secrets);
  const stacks = level === 'error';
  const line: Record<string, Loggable> = { timestamp, level, service, event };
  const context = toLoggable(info.context, { redact, stacks });
  if (isRecord(context)) {
    for (const name of contextFields) {
      const value = context[name];
      if (value !== undefined) line[name] = value;
    }
    for (const [name, value] of Object.entries(context)) {
      if (!contextFields.includes(name)) setMember(line, freeName(name, line, reserved), value);
    }
  }
  const fields = toLoggable(info.fields, { redact, stacks });
  if (isRecord(fields)) {
    for (const [name, value] of Object.entries(fields))
      setMember(line, freeName(name, line, reserved), value);
  }
  return line;
}

function isRecord(value: Loggable | undefined): value is { [key: string]: Loggable } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function withSecrets(redact: Redactor, secrets: readonly string[]): Redactor {
  if (secrets.length === 0) return redact;
  const own = createRedactor(secrets);
  return (text) => redact(own(text));
}

/** A name that no standard key and no earlier field has. */
function freeName(name: string, line: object, reserved: ReadonlySet<string>): string {
  let free = reserved.has(name) || /^\d+$/.test(name) ? `field_${name}` : name;
  while (Object.hasOwn(line, free)) free = `field_${free}`;
  return free;
}

/** Neither a further line nor an escape sequence of a terminal. */
const inOneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');

function escapeLineEnds(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

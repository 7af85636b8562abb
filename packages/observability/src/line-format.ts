import type { LogContext } from './context.ts';
import type { LogLevel } from './events.ts';
import { KeyCache } from './key-cache.ts';
import { createRedactor, type Redactor } from './redact.ts';
import { type Loggable, toJsonSafe } from './to-loggable.ts';

/** What becomes one line of the log. */
export interface LogInput {
  /** ISO 8601 in UTC, with milliseconds */
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly service: string;
  readonly event: string;
  readonly context: LogContext;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Writes the text of a line, without its end. */
export type LogLineFormatter = (input: LogInput) => string;

const CONTEXT_IDS = ['request_id', 'run_id', 'job_id'] as const;

const standardKeys: ReadonlySet<string> = new Set(['timestamp', 'level', 'service', 'event', ...CONTEXT_IDS]);

/**
 * Makes what puts lines together: `timestamp`, `level`, `service`, `event`, then the ids that the context has, then
 * the event's own fields in their order. A field that has a standard key's name becomes `field_<name>`, so that
 * nothing is overwritten and nothing lost; so does one whose name is a number, which a JavaScript object would
 * move to the front.
 *
 * A line is JSON, in which also the characters are escaped that some readers take for line ends (U+0085, U+2028,
 * U+2029). The function it gives is total: it throws for no input.
 *
 * @param redact takes out the secrets that the process knows; those of the context are taken out besides
 */
export function createLogLineFormatter(redact: Redactor = createRedactor([])): LogLineFormatter {
  const names = new KeyCache(redact);
  return (input) => {
    const { secrets = [] } = input.context;
    if (secrets.length === 0) return formatLine(input, redact, names);
    const own = createRedactor(secrets);
    const both: Redactor = (text) => redact(own(text));
    return formatLine(input, both, new KeyCache(both));
  };
}

function formatLine(input: LogInput, redact: Redactor, names: KeyCache): string {
  const { timestamp, level, service, event, context } = input;
  let line = `{"timestamp":${quote(timestamp)},"level":"${level}","service":${quote(service)},"event":${quote(event)}`;
  for (const name of CONTEXT_IDS) {
    const id = context[name];
    if (id !== undefined) line += `,"${name}":${quote(redact(id))}`;
  }
  const fields = toJsonSafe(input.fields, { redact, names, stacks: level === 'error' });
  if (fields !== null && typeof fields === 'object' && !Array.isArray(fields)) {
    const renamed = new Set<string>();
    for (const name of Object.keys(fields))
      line += `,${quote(freeName(name, renamed))}:${valueText(fields[name] ?? null)}`;
  }
  return `${line}}`;
}

/** A name that no standard key and no field before it has. */
function freeName(name: string, renamed: Set<string>): string {
  const isStandard = standardKeys.has(name) || /^\d+$/.test(name);
  if (!isStandard && !name.startsWith('field_')) return name;
  let free = isStandard ? `field_${name}` : name;
  while (renamed.has(free)) free = `field_${free}`;
  renamed.add(free);
  return free;
}

function valueText(value: Loggable): string {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'number' ? numberText(value) : escaped(JSON.stringify(value));
}

/** -0 is 0 in JSON text. */
const numberText = (value: number): string => (value === 0 ? '0' : String(value));

/** Text that stands in JSON as it is: most of it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : escaped(JSON.stringify(text));
}

function escaped(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

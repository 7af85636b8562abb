import {
  createLogger as createEventLogger,
  type Logger as EventLogger,
  type LoggerOptions as EventLoggerOptions,
  type EventType,
} from '@svc/observability';
import { EVENTS, type EventFields, type EventName } from './events.ts';

export type ServiceName = 'svc-api' | 'svc-worker' | 'svc-standalone';

interface LoggerOptions extends Pick<EventLoggerOptions, 'level' | 'write' | 'now'> {
  readonly service: ServiceName;
  /** `json`, the default, or short lines for people. */
  readonly format?: 'json' | 'text';
  /** Values that no line may show, such as the keys and tokens of the configuration. */
  readonly secrets?: Iterable<string>;
}

export type Logger = EventLogger<EventFields>;

/** The ids that connect lines, and who asked, in the order in which a line has them. */
const CONTEXT_IDS = ['request_id', 'trace_id', 'span_id', 'run_id', 'job_id', 'actor'] as const;

export function createLogger({ secrets = [], format = 'json', ...options }: LoggerOptions): Logger {
  const text = format === 'text' ? { format: toText } : {};
  const events: { readonly [Name in EventName]: EventType<EventFields[Name]> } = EVENTS;
  return createEventLogger({ ...options, ...text, events, redact: secrets, contextFields: CONTEXT_IDS });
}

/** What a line is called, and which of its fields need no name. */
const SHORT: Readonly<Record<string, (line: Readonly<Record<string, unknown>>) => string>> = {
  'config.loaded': ({ settings }) => `configuration: ${Object.keys(settings ?? {}).join(', ') || 'defaults'}`,
  'server.start': ({ host, port }) =>
    `ready http://${String(host).includes(':') ? `[${host}]` : host}:${port}`,
  'http.request': (line) =>
    `${line['method']} ${line['route']} ${line['status_code']} ${line['duration_ms']} ms`,
  'server.fault': ({ error }) => `error ${messageOf(error)}`,
  'database.migrate': ({ applied }) => `database migrated: ${[applied].flat().length} migrations`,
  'database.unready': ({ message }) => `database not ready: ${message}`,
};

/** Fields that every line has, and ids, which programs read. */
const UNTOLD: ReadonlySet<string> = new Set([
  'timestamp',
  'level',
  'service',
  'event',
  'actor',
  'trace_id',
  'span_id',
]);

/** A line for people: the time of day, what happened, and its fields. */
function toText(line: Readonly<Record<string, unknown>>): string {
  const { timestamp, level, event } = line;
  const time = new Date(String(timestamp)).toTimeString().slice(0, 8);
  const short = SHORT[String(event)];
  const isQuiet = level === 'info' || level === 'debug';
  const told = Object.entries(line).filter(
    ([name]) => !UNTOLD.has(name) && !(isQuiet && name === 'request_id'),
  );
  const fields = told.map(
    ([name, value]) => ` ${name}=${name === 'error' ? messageOf(value) : shown(value)}`,
  );
  const rest = short === undefined ? `${event}${fields.join('')}` : short(line);
  return `${time} ${isQuiet ? '' : `${level} `}${rest}`;
}

const shown = (value: unknown): string =>
  typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);

const messageOf = (error: unknown): string =>
  String((error as { message?: unknown } | null)?.message ?? error);

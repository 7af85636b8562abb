import {
  createLogger as createEventLogger,
  type Logger as EventLogger,
  type EventType,
  type LogLevel,
} from '@svc/observability';
import { EVENTS, type EventFields, type EventName } from './events.ts';

/** The services that log. Each line has the name of its service. */
export type ServiceName = 'svc-api' | 'svc-worker' | 'svc-standalone';

export interface LoggerOptions {
  readonly service: ServiceName;
  /** The least severe level that is written; default `info`. */
  readonly level?: LogLevel;
  /** Receives each line with its line end as soon as it is logged; default standard output. */
  readonly write?: (line: string) => unknown;
  /** The clock; default the system's. */
  readonly now?: () => Date;
  /** Values that no line may show, such as the keys and tokens of the configuration. */
  readonly secrets?: Iterable<string>;
}

/** Logs the events of the catalogue. */
export type Logger = EventLogger<EventFields>;

/** The ids that connect lines, and who asked, in the order in which a line has them. */
const CONTEXT_IDS = ['request_id', 'trace_id', 'span_id', 'run_id', 'job_id', 'actor'] as const;

/** Makes a logger for the events of the catalogue. */
export function createLogger({ secrets = [], ...options }: LoggerOptions): Logger {
  const events: { readonly [Name in EventName]: EventType<EventFields[Name]> } = EVENTS;
  return createEventLogger({ ...options, events, redact: secrets, contextFields: CONTEXT_IDS });
}

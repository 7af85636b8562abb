import winston from 'winston';
import { currentContext } from './context.ts';
import { EVENTS, type EventFields, type LogLevel } from './events.ts';
import { lineFormat } from './line-format.ts';
import { openOutput } from './open-output.ts';
import { createRedactor } from './redact.ts';

/** The services that log. Each line has the name of its service. */
export type ServiceName = 'svc-api' | 'svc-worker' | 'svc-standalone' | (string & {});

export interface LoggerOptions<Own extends object = Record<never, never>> {
  readonly service: ServiceName;
  /** The least severe level that is written; default `info`. */
  readonly level?: LogLevel;
  /** Receives each line with its line end as soon as it is logged; default standard output. */
  readonly write?: (line: string) => unknown;
  /** The clock; default the system's. */
  readonly now?: () => Date;
  /** Values that no line may show, such as the keys and tokens of the configuration. */
  readonly secrets?: Iterable<string>;
  /** Events in addition to those of the catalogue, each with its level. */
  readonly events?: { readonly [Name in keyof Own]: { readonly level: LogLevel } };
}

/** The second argument of {@link Logger.log}: optional for an event without required fields. */
export type FieldsArgument<Fields> =
  Record<never, never> extends Fields ? [fields?: Fields] : [fields: Fields];

/** `Events` has the fields of each event by its name. */
export interface Logger<Events extends object = EventFields> {
  /** Writes one line for an event, with the ids of the running context. Never throws. */
  log<Name extends keyof Events & string>(event: Name, ...fields: FieldsArgument<Events[Name]>): void;
  /** Whether an event would be written at the logger's level. */
  isEnabled(event: keyof Events & string): boolean;
  /** Resolves when the operating system has every line logged so far. */
  flush(): Promise<void>;
  /** Flushes and closes the logger; lines logged later are dropped. */
  close(): Promise<void>;
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

/**
 * Makes a logger that writes JSON Lines: one line and one write per event, valid JSON whatever the fields hold.
 *
 * @example
 * const logger = createLogger({ service: 'svc-api', level: 'info', secrets: [config.hubToken] });
 * logger.log('server.start', { host: '127.0.0.1', port: 8080, version: '0.1.0' });
 *
 * @example With your own events: their fields as a type, their levels as a value.
 * const logger = createLogger<{ 'mail.sent': { recipients: number } }>({
 *   service: 'post',
 *   events: { 'mail.sent': { level: 'info' } },
 * });
 * logger.log('mail.sent', { recipients: 3 });
 */
export function createLogger<Own extends object = Record<never, never>>(
  options: LoggerOptions<Own>,
): Logger<EventFields & Own> {
  const { service, level = 'info', now = () => new Date() } = options;
  const output = openOutput(options.write);
  const logger = winston.createLogger({
    levels: SEVERITY,
    level,
    defaultMeta: { service },
    format: winston.format.combine(
      winston.format.timestamp({ format: () => now().toISOString() }),
      lineFormat(createRedactor(options.secrets ?? [])),
    ),
    transports: [output.transport],
  });
  const known = new Map<string, { readonly level: LogLevel }>(
    Object.entries({ ...options.events, ...EVENTS }),
  );
  const levelOf = (event: string): LogLevel => known.get(event)?.level ?? 'info';
  let isClosed = false;
  const isWritten = (eventLevel: LogLevel): boolean => !isClosed && logger.isLevelEnabled(eventLevel);

  return {
    log(event, ...[fields = {}]) {
      const eventLevel = levelOf(event);
      if (!isWritten(eventLevel)) return;
      logger.log({ level: eventLevel, message: event, context: currentContext(), fields });
    },
    isEnabled: (event) => isWritten(levelOf(event)),
    flush: () => output.flush(),
    async close() {
      isClosed = true;
      await output.flush();
      logger.close();
    },
  };
}

import { Writable } from 'node:stream';
import winston from 'winston';
import { currentContext } from './context.ts';
import { EVENTS, type EventFields, type EventName, type LogLevel } from './events.ts';
import { formatLogRecord, type LogInput, toLogRecord } from './log-record.ts';
import { createRedactor } from './redact.ts';

/** The services that log. A service's name stands in each of its lines. */
export type ServiceName = 'svc-api' | 'svc-worker' | 'svc-standalone' | (string & {});

export interface LoggerOptions {
  readonly service: ServiceName;
  /** The least severe level that is written; default `info`. */
  readonly level?: LogLevel;
  /**
   * Takes one whole line with its line end, once per line, as soon as it is logged; default standard output.
   */
  readonly write?: (line: string) => unknown;
  /** The clock; default the system's. */
  readonly now?: () => Date;
  /** Values that no line may show, such as the keys and tokens of the configuration. */
  readonly secrets?: Iterable<string>;
}

/** The second argument of {@link Logger.log}: left out where an event needs no field. */
export type FieldsArgument<Name extends EventName> =
  Record<never, never> extends EventFields[Name] ? [fields?: EventFields[Name]] : [fields: EventFields[Name]];

export interface Logger {
  /** Writes one line for an event of the catalogue, with the ids of the running context. Never throws. */
  log<Name extends EventName>(event: Name, ...fields: FieldsArgument<Name>): void;
  /** Whether an event would be written at the logger's level. */
  isEnabled(event: EventName): boolean;
  /** Resolves when every line logged so far has been handed to the operating system. */
  flush(): Promise<void>;
  /** Flushes and ends the logger; what is logged afterwards is dropped. */
  close(): Promise<void>;
}

const severity: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };
const message = Symbol.for('message'); // where winston's transports look for the text of a line

interface Info extends winston.Logform.TransformableInfo {
  input: LogInput;
}

/**
 * Makes a logger that writes JSON Lines: one event a line, one write a line, valid JSON whatever the fields
 * hold.
 *
 * @example
 * const logger = createLogger({ service: 'svc-api', level: 'info', secrets: [config.hubToken] });
 * logger.log('server.start', { host: '127.0.0.1', port: 8080, version: '0.1.0' });
 */
export function createLogger(options: LoggerOptions): Logger {
  const { service, level = 'info', write = standardOutput(), now = () => new Date() } = options;
  const redact = createRedactor(options.secrets ?? []);
  const sink = createSink(write);
  const lines = winston.createLogger({
    levels: severity,
    level,
    format: {
      transform(info) {
        return { ...info, [message]: formatLogRecord(toLogRecord((info as Info).input)) };
      },
    },
    transports: [new winston.transports.Stream({ stream: sink.stream, eol: '\n' })],
  });
  let closed = false;

  return {
    log(event, ...[fields]) {
      const description = EVENTS[event];
      if (closed || !lines.isLevelEnabled(description.level)) return;
      const input: LogInput = {
        time: now(),
        level: description.level,
        service,
        event,
        context: currentContext(),
        fields: fields ?? {},
        redact,
      };
      lines.log({ level: description.level, message: event, input });
    },
    isEnabled: (event) => !closed && lines.isLevelEnabled(EVENTS[event].level),
    flush: () => sink.flush(),
    async close() {
      closed = true;
      await sink.flush();
      lines.close();
    },
  };
}

/** Standard output; a reader that goes away takes the log with it and not the process. */
function standardOutput(): (line: string) => Promise<void> {
  if (process.stdout.listenerCount('error', ignore) === 0) process.stdout.on('error', ignore);
  return (line) => new Promise((resolve) => process.stdout.write(line, () => resolve()));
}

function ignore(): void {}

/**
 * A stream that hands each line on at once, whatever became of the one before, and knows which are under way.
 */
function createSink(write: (line: string) => unknown): { stream: Writable; flush(): Promise<void> } {
  const underWay = new Set<Promise<unknown>>();
  const stream = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      try {
        const written = write(line);
        if (written instanceof Promise) {
          const settled: Promise<unknown> = written
            .catch(() => undefined)
            .finally(() => underWay.delete(settled));
          underWay.add(settled);
        }
      } catch {
        // A log that cannot be written is no reason to stop the work it tells of.
      }
      done();
    },
  });
  return {
    stream,
    async flush() {
      await Promise.all(underWay);
    },
  };
}

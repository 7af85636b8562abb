import winston from 'winston';
import Transport from 'winston-transport';
import { currentContext } from './context.ts';
import { EVENTS, type EventFields, type LogLevel } from './events.ts';
import { createIsoClock } from './iso-clock.ts';
import { createLogLineFormatter, type LogInput } from './log-line.ts';
import { createRedactor } from './redact.ts';

/** The services that log. A service's name stands in each of its lines. */
export type ServiceName = 'svc-api' | 'svc-worker' | 'svc-standalone' | (string & {});

export interface LoggerOptions<Own extends object = Record<never, never>> {
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
  /** Events beside those of the catalogue, each with its level. */
  readonly events?: { readonly [Name in keyof Own]: { readonly level: LogLevel } };
}

/** The second argument of {@link Logger.log}: left out where an event needs no field. */
export type FieldsArgument<Fields> =
  Record<never, never> extends Fields ? [fields?: Fields] : [fields: Fields];

/** `Events` has the fields of each event by its name. */
export interface Logger<Events extends object = EventFields> {
  /** Writes one line for an event, with the ids of the running context. Never throws. */
  log<Name extends keyof Events & string>(event: Name, ...fields: FieldsArgument<Events[Name]>): void;
  /** Whether an event would be written at the logger's level. */
  isEnabled(event: keyof Events & string): boolean;
  /** Resolves when every line logged so far has been handed to the operating system. */
  flush(): Promise<void>;
  /** Flushes and ends the logger; what is logged afterwards is dropped. */
  close(): Promise<void>;
}

const severity: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };
const message = Symbol.for('message'); // where winston's transports look for the text of a line

type TextInfo = winston.Logform.TransformableInfo & { [message]?: string };

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
 *
 * @example With events of one's own: their fields as a type, their levels as a value.
 * const logger = createLogger<{ 'mail.sent': { recipients: number } }>({
 *   service: 'post',
 *   events: { 'mail.sent': { level: 'info' } },
 * });
 * logger.log('mail.sent', { recipients: 3 });
 */
export function createLogger<Own extends object = Record<never, never>>(
  options: LoggerOptions<Own>,
): Logger<EventFields & Own> {
  const { service, level = 'info', write, now = () => new Date() } = options;
  const formatLine = createLogLineFormatter(createRedactor(options.secrets ?? []));
  const timestamp = createIsoClock(now);
  const sink = write === undefined ? standardOutput() : createSink(write);
  const lines = winston.createLogger({
    levels: severity,
    level,
    format: {
      transform(info) {
        const line: TextInfo = info;
        line[message] = formatLine((info as Info).input);
        return line;
      },
    },
    transports: [new SinkTransport(sink)],
  });
  const known = new Map<string, { readonly level: LogLevel }>(
    Object.entries({ ...options.events, ...EVENTS }),
  );
  const levelOf = (event: string): LogLevel => known.get(event)?.level ?? 'info';
  const isWritten = (eventLevel: LogLevel): boolean => severity[eventLevel] <= severity[level];
  let closed = false;

  return {
    log(event, ...[fields]) {
      const eventLevel = levelOf(event);
      if (closed || !isWritten(eventLevel)) return;
      const input: LogInput = {
        timestamp: timestamp(),
        level: eventLevel,
        service,
        event,
        context: currentContext(),
        fields: fields ?? {},
      };
      lines.log({ level: eventLevel, message: event, input });
    },
    isEnabled: (event) => !closed && isWritten(levelOf(event)),
    flush: () => sink.flush(),
    async close() {
      closed = true;
      await sink.flush();
      lines.close();
    },
  };
}

/** Where lines go: each is written when it comes, whatever became of the one before. */
interface Sink {
  /** takes one line with its end; never throws */
  write(line: string): void;
  /** Resolves when every line so far is written, or lost for good. */
  flush(): Promise<void>;
}

/** The end of winston's way: hands each line to a sink. */
class SinkTransport extends Transport {
  readonly #sink: Sink;

  constructor(sink: Sink) {
    super();
    this.#sink = sink;
  }

  override log(info: TextInfo, next: () => void): void {
    this.#sink.write(`${info[message]}\n`);
    next();
  }
}

/** Standard output; a reader that goes away takes the log with it and not the process. */
function standardOutput(): Sink {
  const { stdout } = process;
  if (stdout.listenerCount('error', ignore) === 0) stdout.on('error', ignore);
  return {
    write: (line) => void stdout.write(line),
    // Lines are written in their order: when an empty one is through, so are all before it.
    flush: () => new Promise((resolve) => stdout.write('', () => resolve())),
  };
}

function ignore(): void {}

/** A sink around a function, which may tell with a promise when a line is through. */
function createSink(write: (line: string) => unknown): Sink {
  const underWay = new Set<Promise<unknown>>();
  return {
    write(line) {
      try {
        const written = write(line);
        if (!(written instanceof Promise)) return;
        const settled: Promise<unknown> = written
          .catch(() => undefined)
          .finally(() => underWay.delete(settled));
        underWay.add(settled);
      } catch {
        // A log that cannot be written is no reason to stop the work it tells of.
      }
    },
    async flush() {
      await Promise.all(underWay);
    },
  };
}

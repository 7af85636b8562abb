import { setImmediate } from 'node:timers/promises';
import winston from 'winston';
import Transport from 'winston-transport';
import { currentContext, currentSecrets } from './context.ts';
import {
  type EventTypes,
  type Fields,
  type FieldsOf,
  type LogLevel,
  REQUEST_EVENTS,
  type RequestErrorFields,
  type RequestFields,
} from './event.ts';
import { createRedactor, lineFormat, type Redactor } from './line-format.ts';

export interface LoggerOptions<Events extends EventTypes = EventTypes> {
  /** Name of the program, in each line. */
  readonly service: string;
  /** The program's events with their levels; without them, any name may be logged, at level `info`. */
  readonly events?: Events;
  /** The least severe level that is written; default `info`. */
  readonly level?: LogLevel;
  /** The secrets that no line may show, such as keys of the configuration, or a function that removes them. */
  readonly redact?: Iterable<string> | Redactor;
  /** Makes the text of a line of its fields, in which nothing is secret; default JSON. Control characters in it become blanks. */
  readonly format?: (line: Readonly<Record<string, unknown>>) => string;
  /** Receives each line with its line end; default standard output. */
  readonly write?: (line: string) => unknown;
  /** Fields of the context that come first, in this order; no event's field takes one of these names. */
  readonly contextFields?: readonly string[];
  /** The clock; default the system's. */
  readonly now?: () => Date;
}

/** The second argument of {@link Logger.log}: none for an event without fields, optional if no field is required. */
export type FieldsArgument<EventFields> = keyof EventFields extends never
  ? []
  : Record<never, never> extends EventFields
    ? [fields?: EventFields]
    : [fields: EventFields];

/** `Events` has the fields of each event by its name. */
export interface Logger<Events extends object = Readonly<Record<string, Fields>>> {
  /** Writes one line for an event, with the fields of the running context. Never throws. */
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
 * @throws RangeError for an unknown level
 *
 * @example
 * const logger = createLogger({
 *   service: 'post',
 *   events: { 'mail.sent': event<{ recipients: number }>('info') },
 *   redact: [apiKey],
 * });
 * logger.log('mail.sent', { recipients: 3 });
 */
export function createLogger<Events extends EventTypes>(
  options: LoggerOptions<Events>,
): Logger<
  FieldsOf<Events> & { readonly 'http.request': RequestFields; readonly 'http.error': RequestErrorFields }
> {
  checkLevels(options);
  const { service, level = 'info', now = () => new Date(), redact = [], contextFields = [] } = options;
  const transport = new FunctionTransport(options.write);
  const logger = winston.createLogger({
    levels: SEVERITY,
    level,
    format: winston.format.combine(
      winston.format.timestamp({ format: () => now().toISOString() }),
      lineFormat(redactorOf(redact), contextFields, options.format),
    ),
    transports: [transport],
  });
  const known = new Map(
    Object.entries<{ readonly level: LogLevel }>({ ...REQUEST_EVENTS, ...options.events }),
  );
  const levelOf = (event: string): LogLevel => known.get(event)?.level ?? 'info';
  let isClosed = false;
  /** Waits until the streams of winston have passed every line on. The first lines wait in them for a turn. */
  const drain = async (): Promise<void> => {
    while (logger.writableLength + logger.readableLength + transport.writableLength > 0) await setImmediate();
  };
  const isWritten = (eventLevel: LogLevel): boolean => !isClosed && logger.isLevelEnabled(eventLevel);

  return {
    log(event, ...[fields = {}]: readonly unknown[]) {
      const eventLevel = levelOf(event);
      if (!isWritten(eventLevel)) return;
      const context = currentContext();
      const secrets = currentSecrets();
      logger.log({ level: eventLevel, message: event, service, context, secrets, fields });
    },
    isEnabled: (event) => isWritten(levelOf(event)),
    async flush() {
      await drain();
      await transport.flush();
    },
    async close() {
      isClosed = true;
      await drain();
      await transport.flush();
      logger.close();
    },
  };
}

/** A misspelt level would otherwise have no effect. @throws RangeError */
function checkLevels(options: LoggerOptions): void {
  if (options.level !== undefined) checkLevel('level', options.level);
  for (const [name, { level }] of Object.entries(options.events ?? {})) {
    checkLevel(`The level of the event ${JSON.stringify(name)}`, level);
  }
}

function checkLevel(name: string, level: unknown): void {
  if (typeof level === 'string' && Object.hasOwn(SEVERITY, level)) return;
  const got = typeof level === 'string' ? JSON.stringify(level) : `a value of the type ${typeof level}`;
  throw new RangeError(`${name} must be error, warn, info or debug, got ${got}.`);
}

/** A program's own function also loses what no line may show: bearer tokens and the user-info of URLs. */
function redactorOf(redact: Iterable<string> | Redactor): Redactor {
  if (typeof redact !== 'function') return createRedactor(redact);
  const removeForms = createRedactor([]);
  return (text) => removeForms(redact(text));
}

/** Standard output. A reader that closes the pipe ends the log and not the process. */
function standardOutput(): (line: string) => boolean {
  const { stdout } = process;
  if (stdout.listenerCount('error', ignore) === 0) stdout.on('error', ignore);
  return (line) => stdout.write(line);
}

function ignore(): void {}

/** Passes each line to a function, by default to standard output, also while the promise of an earlier call is pending. */
class FunctionTransport extends Transport {
  readonly #write: (line: string) => unknown;
  readonly #isStandardOutput: boolean;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(write: ((line: string) => unknown) | undefined) {
    super();
    this.#isStandardOutput = write === undefined;
    this.#write = write ?? standardOutput();
  }

  override log(info: winston.Logform.TransformableInfo, next: () => void): void {
    try {
      this.#track(this.#write(`${info[Symbol.for('message')]}\n`));
    } catch {
      // A line that cannot be written must not stop the work that it reports.
    }
    next();
  }

  #track(written: unknown): void {
    if (!(written instanceof Promise)) return;
    const settled: Promise<unknown> = written
      .catch(() => undefined)
      .finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
  }

  /** Resolves when every line so far is written or lost. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
    if (!this.#isStandardOutput) return;
    // Lines are written in order: when an empty one is written, so are all before it. A promise for each would cost more.
    await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  }
}

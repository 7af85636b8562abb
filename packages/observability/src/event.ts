/** Severity, most severe first. A logger writes its level and the more severe ones. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Fields of any name. */
export type Fields = Readonly<Record<string, unknown>>;

declare const fields: unique symbol;

/** The level of an event, and for the compiler the type of its fields. */
export interface EventType<EventFields = unknown> {
  readonly level: LogLevel;
  readonly [fields]?: EventFields;
}

/** The events of a program, by name. */
export type EventTypes = Readonly<Record<string, EventType>>;

/** The fields of each event by its name; an event that states no fields takes any. */
export type FieldsOf<Events extends EventTypes> = {
  readonly [Name in keyof Events]: Events[Name] extends EventType<infer EventFields>
    ? unknown extends EventFields
      ? Fields
      : EventFields
    : never;
};

/**
 * Declares an event with the type of its fields; without a type, it has none.
 *
 * @example
 * const events = { 'mail.sent': event<{ recipients: number }>('info'), 'mail.idle': event('debug') };
 */
export function event<EventFields = Record<never, never>>(level: LogLevel = 'info'): EventType<EventFields> {
  return { level };
}

/** What the log says of one request. */
export interface RequestFields {
  readonly method: string;
  /** The route template, or `__unmatched__`. */
  readonly route: string;
  /** 499 if the client disconnected before the end of the response. */
  readonly status_code: number;
  /** From the head of the request to the end of the response, in milliseconds. */
  readonly duration_ms: number;
  /** Bytes of the body that were read. */
  readonly bytes_in: number;
  /** Bytes that were written, with the head of the response. */
  readonly bytes_out: number;
  /** The stable code of an error response. */
  readonly code?: string | undefined;
}

/** What the log says of the error behind a 5xx response. */
export interface RequestErrorFields {
  readonly method: string;
  readonly route: string;
  readonly status_code: number;
  readonly error: unknown;
}

/** The events that the package writes; a logger that declares an event of one of these names changes its level. */
export const REQUEST_EVENTS: {
  readonly 'http.request': EventType<RequestFields>;
  readonly 'http.error': EventType<RequestErrorFields>;
} = {
  'http.request': event<RequestFields>('info'),
  'http.error': event<RequestErrorFields>('error'),
};

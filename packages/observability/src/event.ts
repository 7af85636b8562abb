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

/** A number while it is typed; empty for none. */
export type Typed = string | number;

/** Members of a configuration, as the API names them. */
export type Config = Readonly<Record<string, unknown>>;

/** A value that is an object; an empty one for others. */
export const objectOf = (value: unknown): Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : {};

/** A number that was typed; undefined where there is none. */
export function numberOf(value: Typed): number | undefined {
  return value === '' || !Number.isFinite(Number(value)) ? undefined : Number(value);
}

/** The members that are not undefined. */
export function stated(members: Config): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** An object with members; undefined without any. */
export function nonEmpty(members: object): object | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}

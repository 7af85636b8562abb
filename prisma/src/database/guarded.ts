import { toStoreError } from './errors.ts';

type Methods = Record<string, (...args: never[]) => Promise<unknown>>;

/** The same methods, whose lost connections come out as StoreError `unavailable`. */
export function guarded<T extends object>(methods: T): T {
  const wrapped: Methods = {};
  for (const [name, method] of Object.entries(methods as Methods)) {
    wrapped[name] = async (...args) => {
      try {
        return await method(...args);
      } catch (error) {
        throw toStoreError(error);
      }
    };
  }
  return wrapped as T;
}

/** The same values, with a lost connection as StoreError `unavailable`. */
export async function* guardedStream<T>(values: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* values;
  } catch (error) {
    throw toStoreError(error);
  }
}

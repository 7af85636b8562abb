import type { StoreContext } from '../context.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { asStoreErrors, guardedStream } from '../database/errors.ts';
import { isUuid, runNotFound } from '../database/values.ts';
import type { Pool } from '../postgres/pool.ts';
import { seesDataset } from './actor.ts';

type Ids = readonly (string | null | undefined)[];

/** Ids that a call names, and that its caller must see. */
interface Named {
  readonly datasets?: Ids;
  readonly runs?: Ids;
}

/** What the store does, by the names that callers use. */
type Operations<Result = Promise<unknown> | AsyncIterable<unknown>> = Readonly<
  Record<string, (context: StoreContext, ...args: never[]) => Result>
>;

type ArgsOf<T> = T extends (context: StoreContext, ...args: infer Args) => unknown ? Args : never;

type Methods<T extends Operations> = {
  readonly [Name in keyof T]: (...args: ArgsOf<T[Name]>) => ReturnType<T[Name]>;
};

type Call = (context: StoreContext, ...args: unknown[]) => unknown;

const methodsOf = <T extends Operations>(
  operations: T,
  method: (operation: Call, args: unknown[]) => unknown,
): Methods<T> =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      (...args: unknown[]) => method(operation as Call, args),
    ]),
  ) as unknown as Methods<T>;

/**
 * Operations on what callers name. What is no id, and what they may not see, is not found.
 *
 * @param named takes the ids from the arguments of a call
 */
export const checked = <T extends Operations<Promise<unknown>>>(
  context: StoreContext,
  named: (args: ArgsOf<T[keyof T]>) => Named,
  operations: T,
): Methods<T> =>
  methodsOf(operations, (operation, args) =>
    asStoreErrors(async () => {
      await check(context.pool, named(args as ArgsOf<T[keyof T]>));
      return await operation(context, ...args);
    }),
  );

/** Operations that name nothing, or restrict what they read, or that callers reach by way of a {@link checked} one only. */
export const unchecked = <T extends Operations>(context: StoreContext, operations: T): Methods<T> =>
  methodsOf(operations, (operation, args) => {
    const result = operation(context, ...args) as Promise<unknown> | AsyncIterable<unknown>;
    return Symbol.asyncIterator in result ? guardedStream(result) : asStoreErrors(() => result);
  });

/** @throws StoreError `dataset_not_found`, `run_not_found`, as for ids that do not exist */
async function check(pool: Pool, { datasets = [], runs = [] }: Named): Promise<void> {
  const condition = seesDataset('dataset_id');
  for (const [ids, table, notFound] of [
    [datasets, '(SELECT id, id AS dataset_id FROM datasets) AS named', datasetNotFound],
    [runs, 'runs', runNotFound],
  ] as const) {
    const named = ids.filter((id) => id != null);
    const invalid = named.find((id) => !isUuid(id));
    if (invalid !== undefined) throw notFound(invalid);
    if (condition === null || named.length === 0) continue;
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE id = ANY ($1::uuid[]) AND ${condition}`,
      [named],
    );
    const seen = new Set(rows.map(({ id }) => id));
    const hidden = named.find((id) => !seen.has(id.toLowerCase()));
    if (hidden !== undefined) throw notFound(hidden);
  }
}

import pg from 'pg';

/** The texts of the statements that clients of this process send, until it is disposed. */
export interface StatementRecord extends Disposable {
  readonly statements: ReadonlySet<string>;
}

/** Records every statement of every connection of this process. */
export function recordStatements(): StatementRecord {
  const statements = new Set<string>();
  const { query } = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  pg.Client.prototype.query = function record(this: pg.Client, ...args: unknown[]): unknown {
    const [first] = args;
    // Text, a configuration, or a COPY, which has its text too.
    const text = typeof first === 'string' ? first : (first as { text?: string } | undefined)?.text;
    if (text !== undefined) statements.add(text);
    return query.apply(this, args);
  } as never;
  return {
    statements,
    [Symbol.dispose]: () => {
      pg.Client.prototype.query = query as never;
    },
  };
}

import { queryDatabase } from '../query-database.ts';
import { distributionOf, LOCATIONS } from './table-locations.ts';

interface Constraint {
  readonly table: string;
  readonly name: string;
  readonly kind: 'p' | 'u' | 'x' | 'f';
  readonly columns: readonly string[];
  readonly other: string | null;
  readonly otherColumns: readonly string[];
}

const TABLES = `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
  AND NOT relispartition`;

const COLUMNS = (
  relation: string,
  numbers: string,
): string => `(SELECT coalesce(array_agg(attname::text ORDER BY position), '{}')
  FROM unnest(${numbers}) WITH ORDINALITY AS key (number, position)
  JOIN pg_attribute ON attrelid = ${relation} AND attnum = number)`;

/** Constraints, and unique indexes without one. */
const CONSTRAINTS = `
  SELECT c.conrelid::regclass::text AS table, c.conname AS name, c.contype AS kind, ${COLUMNS('c.conrelid', 'c.conkey')} AS columns,
    nullif(c.confrelid, 0)::regclass::text AS other, ${COLUMNS('c.confrelid', 'c.confkey')} AS "otherColumns"
  FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
  WHERE r.relnamespace = 'public'::regnamespace AND NOT r.relispartition AND c.contype IN ('p', 'u', 'x', 'f')
  UNION ALL
  SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, 'u', ${COLUMNS('i.indrelid', 'i.indkey::int2[]')}, NULL, '{}'
  FROM pg_index i JOIN pg_class r ON r.oid = i.indrelid
  WHERE r.relnamespace = 'public'::regnamespace AND NOT r.relispartition AND i.indisunique
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`;

const TRIGGERS = `SELECT tgrelid::regclass::text AS table, tgname AS name FROM pg_trigger WHERE NOT tgisinternal`;

/**
 * What of a schema a distributed PostgreSQL does not support: tables without a location, unique keys without the column
 * by which their table is in shards, foreign keys between shards, and triggers on tables that are not local.
 */
export async function unsupportedSchema(url: string): Promise<string[]> {
  const tables: { readonly name: string }[] = await queryDatabase(url, TABLES);
  const constraints: Constraint[] = await queryDatabase(url, CONSTRAINTS);
  const triggers: { readonly table: string; readonly name: string }[] = await queryDatabase(url, TRIGGERS);
  const found = tables
    .filter(({ name }) => LOCATIONS[name] === undefined)
    .map(({ name }) => `${name} has no location`);
  for (const { table, name, kind, columns, other, otherColumns } of constraints) {
    const own = distributionOf(table);
    if (kind !== 'f') {
      if (own !== null && !columns.includes(own.by)) found.push(`${table}.${name} lacks ${own.by}`);
      continue;
    }
    const target = distributionOf(other ?? '');
    if (target === null) {
      const isVisible = LOCATIONS[other ?? ''] === 'reference' || LOCATIONS[table] === 'local';
      if (!isVisible) found.push(`${table}.${name} refers to the local table ${other}`);
      continue;
    }
    const isSameShard =
      own !== null && own.with === target.with && columns.indexOf(own.by) === otherColumns.indexOf(target.by);
    if (!isSameShard || !columns.includes(own.by))
      found.push(`${table}.${name} refers to shards of ${other}`);
  }
  for (const { table, name } of triggers) {
    if (LOCATIONS[table] !== 'local') found.push(`${table} has the trigger ${name}`);
  }
  return found.sort();
}

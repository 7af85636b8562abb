import { parse } from 'libpg-query';
import { distributionOf, LOCATIONS } from './table-locations.ts';

// biome-ignore lint/suspicious/noExplicitAny: nodes of a syntax tree have every shape
type Node = any;

/** How a statement reaches a table that is in shards. */
interface ShardAccess {
  readonly table: string;
  /**
   * - `shard`: a value of its column is given
   * - `join`: by the column, from a table that every node has or that is in the same shards
   * - `all`: every shard, whatever they have
   */
  readonly reach: 'shard' | 'join' | 'all';
}

/** What of a statement concerns shards. */
export interface QueryFacts {
  readonly accesses: readonly ShardAccess[];
  /** Tables that it changes. */
  readonly changed: readonly string[];
}

/** Reads a statement as the server does. */
export async function queryFacts(sql: string): Promise<QueryFacts> {
  const tree = await parse(sql);
  const facts = { accesses: [] as ShardAccess[], changed: [] as string[] };
  for (const { stmt } of tree.stmts ?? []) visit(stmt, new Set(), facts);
  return facts;
}

/** Whether a statement changes tables of different locations, which Citus does in one statement for local ones only. */
export function changesMixedLocations({ changed }: QueryFacts): boolean {
  const kinds = changed.map((table) => {
    const distribution = distributionOf(table);
    return distribution === null ? String(LOCATIONS[table]) : `shards by ${distribution.with}`;
  });
  return new Set(kinds).size > 1;
}

const LEVELS = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt'] as const;

function visit(
  node: Node,
  outer: ReadonlySet<string>,
  facts: { accesses: ShardAccess[]; changed: string[] },
): void {
  if (Array.isArray(node)) {
    for (const entry of node) visit(entry, outer, facts);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  for (const [kind, inner] of Object.entries(node as Record<string, Node>)) {
    if (!LEVELS.includes(kind as (typeof LEVELS)[number])) {
      visit(inner, outer, facts);
      continue;
    }
    const named = new Set(outer);
    for (const cte of inner.withClause?.ctes ?? []) named.add(cte.CommonTableExpr.ctename);
    readLevel(kind, inner, named, facts);
    visit(inner, named, facts);
  }
}

/** Reads the tables of one query level, and the conditions under which they are read. */
function readLevel(
  kind: string,
  level: Node,
  named: ReadonlySet<string>,
  facts: { accesses: ShardAccess[]; changed: string[] },
): void {
  if (kind !== 'SelectStmt') facts.changed.push(level.relation.relname);
  if (kind === 'InsertStmt') {
    const distribution = distributionOf(level.relation.relname);
    if (distribution === null) return;
    const columns = (level.cols ?? []).map((column: Node) => column.ResTarget.name);
    const reach = columns.includes(distribution.by) ? 'shard' : 'all';
    facts.accesses.push({ table: level.relation.relname, reach });
    return;
  }
  const tables: { table: string; alias: string }[] = [];
  const conditions: Node[] = [level.whereClause];
  const shared = new Set<string>();
  const collect = (from: Node): void => {
    const range = from?.RangeVar ?? (from?.relname === undefined ? undefined : from);
    if (range !== undefined) {
      if (!named.has(range.relname) && distributionOf(range.relname) !== null) {
        tables.push({ table: range.relname, alias: range.alias?.aliasname ?? range.relname });
      }
      return;
    }
    if (from?.JoinExpr === undefined) return;
    const { larg, rarg, quals, usingClause } = from.JoinExpr;
    collect(larg);
    collect(rarg);
    conditions.push(quals);
    for (const column of usingClause ?? []) shared.add(column.String.sval);
  };
  if (kind !== 'SelectStmt') collect(level.relation);
  for (const from of [...(level.fromClause ?? []), ...(level.usingClause ?? [])]) collect(from);
  const terms = conditions.flatMap(conjuncts);
  for (const { table, alias } of tables) {
    const by = distributionOf(table)?.by ?? '';
    const reaches = terms.map((term) => reachBy(term, alias, by)).filter((reach) => reach !== null);
    const reach = reaches.includes('shard') ? 'shard' : (reaches[0] ?? (shared.has(by) ? 'join' : 'all'));
    facts.accesses.push({ table, reach });
  }
}

function conjuncts(condition: Node): Node[] {
  if (condition === undefined || condition === null) return [];
  if (condition.BoolExpr?.boolop === 'AND_EXPR') return condition.BoolExpr.args.flatMap(conjuncts);
  return [condition];
}

/** Whether a condition sets the column of a table equal to something. */
function reachBy(condition: Node, alias: string, column: string): 'shard' | 'join' | null {
  const comparison = condition.A_Expr;
  if (comparison?.name?.[0]?.String?.sval !== '=') return null;
  const sides = [comparison.lexpr, comparison.rexpr];
  const own = sides.findIndex((side) => isColumn(side, alias, column));
  if (own === -1) return null;
  return mentionsColumn(sides[1 - own]) ? 'join' : 'shard';
}

function isColumn(node: Node, alias: string, column: string): boolean {
  const names = (node?.ColumnRef?.fields ?? []).map((field: Node) => field.String?.sval);
  return names.at(-1) === column && (names.length === 1 || names.at(-2) === alias);
}

function mentionsColumn(node: Node): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if ('ColumnRef' in node) return true;
  return Object.values(node).some(mentionsColumn);
}

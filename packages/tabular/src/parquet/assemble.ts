/**
 * Puts the values of columns into rows by their levels (Parquet format, "Nested Encoding"). The algorithm and its
 * results for most shapes of a schema are hyparquet's (MIT, Kenny Daniel), which is the oracle of its tests. Here every
 * step is checked, because levels are untrusted input, and lists of older writers follow the format.
 */
import type { CellValues } from './cells/convert.ts';
import { isRepeated, listElement, maxDefinitionLevel, type SchemaTree } from './metadata/schema.ts';
import { damaged } from './parquet-error.ts';

type Nested = unknown[];

/**
 * Assembles the entries of one leaf to nested lists, one to a row: a list for every optional group and every repeated one
 * on the way to the value.
 * @param output rows so far; the last one may continue
 * @throws ParquetError if the levels contradict each other
 */
export function assembleLists(
  output: Nested,
  definitions: Uint8Array | null,
  repetitions: Uint8Array | null,
  values: CellValues,
  path: readonly SchemaTree[],
): CellValues {
  const maxDefinition = maxDefinitionLevel(path);
  const kinds = path.map(({ element }) => element.repetition_type);
  const count = definitions?.length ?? repetitions?.length ?? values.length;
  if (maxDefinition === 0 && repetitions === null) return values;
  const leaf = kinds.length - 2;
  const stack: Nested[] = [output];
  let container = output;
  /** Depth in the schema, in lists, and in repeated lists. */
  let depth = 0;
  let listDepth = 0;
  let repeated = 0;

  const first = repetitions?.[0] ?? 0;
  if (first > 0) {
    // The first entry continues the last row.
    while (depth < leaf && repeated < first) {
      depth += 1;
      if (kinds[depth] !== 'REQUIRED') {
        const last = container.at(-1);
        if (!Array.isArray(last)) throw damaged('its levels of nesting contradict each other');
        container = last;
        stack.push(container);
        listDepth += 1;
      }
      if (kinds[depth] === 'REPEATED') repeated += 1;
    }
  }

  let next = 0;
  for (let index = 0; index < count; index += 1) {
    const definition = definitions === null ? maxDefinition : (definitions[index] as number);
    const repetition = repetitions === null ? 0 : (repetitions[index] as number);
    while (depth > 0 && (repetition < repeated || kinds[depth] !== 'REPEATED')) {
      if (kinds[depth] !== 'REQUIRED') {
        stack.pop();
        listDepth -= 1;
      }
      if (kinds[depth] === 'REPEATED') repeated -= 1;
      depth -= 1;
    }
    const top = stack.at(-1);
    if (top === undefined) throw damaged('its levels of nesting contradict each other');
    container = top;
    while (
      (depth < leaf || kinds[depth + 1] === 'REPEATED') &&
      (listDepth < definition || kinds[depth + 1] === 'REQUIRED')
    ) {
      depth += 1;
      if (kinds[depth] !== 'REQUIRED') {
        const list: Nested = [];
        container.push(list);
        container = list;
        stack.push(list);
        listDepth += 1;
      }
      if (kinds[depth] === 'REPEATED') repeated += 1;
    }
    if (definition === maxDefinition) {
      container.push(values[next]);
      next += 1;
    } else if (depth === leaf && kinds[leaf + 1] !== 'REPEATED') container.push(null);
    else container.push([]);
  }
  return output;
}

/** Structs become objects, optional groups their content or null. @throws ParquetError if the leaves do not fit */
export function assembleNested(
  leaves: ReadonlyMap<SchemaTree, Nested>,
  schema: SchemaTree,
  depth = 0,
): Nested {
  const isOptional = schema.element.repetition_type === 'OPTIONAL';
  const innerDepth = schema.element.repetition_type === 'REQUIRED' ? depth : depth + 1;
  const item = listElement(schema);
  if (item !== null) {
    const values = assembleNested(leaves, item, isRepeated(item) ? innerDepth : innerDepth + 1);
    return isOptional ? flattenAt(values, depth) : values;
  }
  if (schema.children.length === 0) {
    const values = leaves.get(schema);
    if (values === undefined) throw damaged('a column lacks a part of it');
    return values;
  }
  const members = schema.children.map(
    (child) => [child.element.name, assembleNested(leaves, child, innerDepth)] as const,
  );
  const rows = invert(members, innerDepth);
  return isOptional ? flattenAt(rows, depth) : rows;
}

/** Removes the list that stands for an optional group: its only entry is the group, or null. */
function flattenAt(rows: Nested, depth: number): Nested {
  for (let row = 0; row < rows.length; row += 1) {
    const value = rows[row];
    if (!isNested(value)) throw misshapen();
    if (depth > 0) flattenAt(value, depth - 1);
    else rows[row] = value[0];
  }
  return rows;
}

function invert(members: ReadonlyArray<readonly [string, Nested]>, depth: number): Nested {
  const length = members[0]?.[1].length ?? 0;
  const rows: Nested = new Array(length);
  for (const [, values] of members) {
    if (values.length !== length) throw damaged('the parts of a column have different lengths');
  }
  for (let row = 0; row < length; row += 1) {
    if (depth > 0) {
      rows[row] = invert(
        members.map(([name, values]) => {
          const inner = values[row];
          if (!isNested(inner)) throw misshapen();
          return [name, inner] as const;
        }),
        depth - 1,
      );
      continue;
    }
    const object: Record<string, unknown> = {};
    for (const [name, values] of members) object[name] = values[row];
    rows[row] = object;
  }
  return rows;
}

function isNested(value: unknown): value is Nested {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof Uint8Array));
}

function misshapen(): Error {
  return damaged('the parts of a column are nested differently');
}

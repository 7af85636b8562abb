import { shorten } from '../errors.ts';
import { assembleNested } from './assemble.ts';
import type { CellValues } from './cells/convert.ts';
import type { SchemaTree } from './metadata/schema.ts';
import { translateErrors } from './parquet-error.ts';

/**
 * Puts the leaves of a column together: the same rows of each, in the schema's order.
 *
 * @param root the column's part of the schema, in which every node has a unique path
 * @throws TableError `damaged_file`
 */
export function assembleColumn(
  root: SchemaTree,
  leafValues: readonly CellValues[],
  file: string,
): CellValues {
  const [only] = leafValues;
  if (root.children.length === 0 && only !== undefined) return only;
  const assemble = (): CellValues => {
    const values = new Map<string, unknown[]>();
    let index = 0;
    const collect = (node: SchemaTree): void => {
      if (node.children.length > 0) node.children.forEach(collect);
      else {
        // Values are only read: typed arrays serve as well as plain ones.
        values.set(node.path.join('.'), (leafValues[index] ?? []) as unknown[]);
        index += 1;
      }
    };
    collect(root);
    assembleNested(values, root);
    return values.get(root.path.join('.')) ?? [];
  };
  return translateErrors(file, assemble, () => `column ${shorten(root.element.name)}: `);
}

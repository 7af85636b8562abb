import { shorten } from '../../errors.ts';
import type { Feature } from '../../schema/features.ts';
import { damaged, unsupported } from '../parquet-error.ts';
import { listElement } from './lists.ts';
import type { SchemaTree } from './schema.ts';

/** The plain types that a VARIANT may be stored as ("Variant Shredding", "Shredded Value Types"). */
const PLAIN_TYPES =
  /^(?:bool|int(?:8|16|32|64)|float(?:32|64)|decimal\d+\(.*\)|date32|time64\[us\]|timestamp\[[un]s(?:, tz=UTC)?\]|binary|string)$/;

/**
 * The feature of a column annotated as VARIANT.
 *
 * @param toFeature the feature of any other node
 * @throws ParquetError if its columns are not those of a VARIANT
 */
export function variantFeature(node: SchemaTree, toFeature: (node: SchemaTree) => Feature): Feature {
  const metadata = node.children.find(({ element }) => element.name === 'metadata');
  if (metadata?.element.type !== 'BYTE_ARRAY') throw misshapen(node);
  return partFeature({ ...node, children: node.children.filter((child) => child !== metadata) }, toFeature);
}

/** The feature of a VARIANT or a part of one, without its names. */
function partFeature(node: SchemaTree, toFeature: (node: SchemaTree) => Feature): Feature {
  let typed: Feature | null = null;
  if (node.children.length === 0) throw misshapen(node);
  for (const child of node.children) {
    const { name, type, repetition_type: repetition } = child.element;
    if (repetition === 'REPEATED') throw misshapen(node);
    if (name === 'value' && type === 'BYTE_ARRAY') continue;
    if (name !== 'typed_value') throw misshapen(node);
    typed = typedFeature(child, toFeature);
  }
  return { kind: 'variant', typed };
}

function typedFeature(node: SchemaTree, toFeature: (node: SchemaTree) => Feature): Feature {
  const { element, children } = node;
  if (children.length === 0) {
    const feature = toFeature(node);
    if (feature.kind === 'value' && PLAIN_TYPES.test(feature.dtype)) return feature;
    throw unsupported('a VARIANT is stored as a type that no VARIANT has');
  }
  const item = listElement(node);
  if (item !== null) return { kind: 'list', item: partFeature(item, toFeature), length: null, large: false };
  if (element.converted_type !== undefined || element.logical_type !== undefined) throw misshapen(node);
  const fields = children.map((child) => {
    if (child.element.repetition_type === 'REPEATED') throw misshapen(child);
    return { name: child.element.name, feature: partFeature(child, toFeature) };
  });
  return { kind: 'struct', fields };
}

function misshapen({ element }: SchemaTree): Error {
  return damaged(`column ${shorten(element.name)} does not have the columns of a VARIANT`);
}

import type { SchemaElement, SchemaTree } from './schema.ts';

/** Whether an element is annotated as a list. */
export function isList({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'LIST' || logical?.type === 'LIST';
}

/**
 * The element of a list, by the format's rules for lists of older writers ("Backward-compatibility rules"): what the list
 * repeats, or its only member. Null if the node is not a list.
 */
export function listElement({ element, children }: SchemaTree): SchemaTree | null {
  const [repeated, other] = children;
  const isAnnotated = isList(element) || isKeySet(element, repeated?.element);
  if (!isAnnotated || repeated === undefined || other !== undefined || !isRepeated(repeated)) return null;
  const [only, second] = repeated.children;
  if (only === undefined || second !== undefined || isRepeated(only)) return repeated;
  return ['array', `${element.name}_tuple`].includes(repeated.element.name) ? repeated : only;
}

/** Whether an element is a map whose entries have keys alone, which is the list of its keys. */
export function isKeySet(element: SchemaElement, entry: SchemaElement | undefined): boolean {
  return (
    isMap(element) &&
    element.num_children === 1 &&
    entry?.repetition_type === 'REPEATED' &&
    entry.num_children === 1
  );
}

/** Whether a node is a list without being annotated as one. */
export function isRepeated({ element }: SchemaTree): boolean {
  return element.repetition_type === 'REPEATED';
}

/** Whether an element is annotated as a map. */
export function isMap({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
}

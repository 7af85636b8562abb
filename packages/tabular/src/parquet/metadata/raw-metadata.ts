import type { SchemaElement, SchemaTree } from './schema.ts';

/**
 * The footer without the annotations with which reading would lose something, so that cells have the form that
 * `compileCell` takes: decimals unscaled, JSON as text, maps as lists of keys and values.
 */
export function rawMetadata<T extends { schema: SchemaElement[] }>(metadata: T): T {
  return {
    ...metadata,
    schema: metadata.schema.map((element, index) => rawElement(element, metadata.schema[index + 1])),
  };
}

function rawElement(element: SchemaElement, next: SchemaElement | undefined): SchemaElement {
  const { converted_type: converted, logical_type: logical, ...rest } = element;
  // The assembly of columns checks this annotation alone; newer files may only have the other.
  if (isList(element) || isKeySet(element, next))
    return (element.num_children ?? 0) > 0 ? { ...rest, converted_type: 'LIST' } : rest;
  if (isMap(element)) return rest;
  const annotations = [converted, logical?.type];
  if (
    annotations.some(
      (annotation) => annotation === 'DECIMAL' || annotation === 'BSON' || annotation === 'INTERVAL',
    )
  )
    return rest;
  if (annotations.some((annotation) => annotation === 'GEOMETRY' || annotation === 'GEOGRAPHY')) return rest;
  if (annotations.includes('JSON')) return { ...rest, converted_type: 'UTF8' };
  // Dates, too, are read by the older annotation alone.
  if (annotations.includes('DATE')) return { ...rest, converted_type: 'DATE' };
  return element;
}

/** Whether an element is annotated as a list. */
function isList({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
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
function isKeySet(element: SchemaElement, entry: SchemaElement | undefined): boolean {
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

import type { SchemaElement } from './schema.ts';

/**
 * The footer without the annotations with which reading would lose something, so that cells have the form that
 * `compileCell` takes: decimals unscaled, JSON as text, maps as lists of keys and values.
 */
export function rawMetadata<T extends { schema: SchemaElement[] }>(metadata: T): T {
  return { ...metadata, schema: metadata.schema.map(rawElement) };
}

function rawElement(element: SchemaElement): SchemaElement {
  const { converted_type: converted, logical_type: logical, ...rest } = element;
  // The assembly of columns checks this annotation alone; newer files may only have the other.
  if (isList(element)) return (element.num_children ?? 0) > 0 ? { ...rest, converted_type: 'LIST' } : rest;
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
export function isList({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'LIST' || logical?.type === 'LIST';
}

/** Whether an element is annotated as a map. */
export function isMap({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
}

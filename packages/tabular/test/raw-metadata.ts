import { isKeySet, isList, isMap, type SchemaElement } from '../src/parquet/metadata/schema.ts';

/**
 * The footer for hyparquet, without the annotations with which it would lose something, so that its cells have the form that
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

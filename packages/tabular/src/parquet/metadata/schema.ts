import { damaged, unsupported } from '../parquet-error.ts';

/** Physical types by their number in the format (`Type`). */
export const PHYSICAL_TYPES = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
export type PhysicalType = (typeof PHYSICAL_TYPES)[number];

/** `FieldRepetitionType`. */
export const REPETITION_TYPES = ['REQUIRED', 'OPTIONAL', 'REPEATED'] as const;

/** `ConvertedType`: the older annotations. */
export const CONVERTED_TYPES = [
  'UTF8',
  'MAP',
  'MAP_KEY_VALUE',
  'LIST',
  'ENUM',
  'DECIMAL',
  'DATE',
  'TIME_MILLIS',
  'TIME_MICROS',
  'TIMESTAMP_MILLIS',
  'TIMESTAMP_MICROS',
  'UINT_8',
  'UINT_16',
  'UINT_32',
  'UINT_64',
  'INT_8',
  'INT_16',
  'INT_32',
  'INT_64',
  'JSON',
  'BSON',
  'INTERVAL',
] as const;
type ConvertedType = (typeof CONVERTED_TYPES)[number];

export const TIME_UNITS = ['MILLIS', 'MICROS', 'NANOS'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/** Logical types without parameters that matter here, by their number in the format. */
export const PLAIN_LOGICAL_TYPES = {
  1: 'STRING',
  2: 'MAP',
  3: 'LIST',
  4: 'ENUM',
  6: 'DATE',
  11: 'NULL',
  12: 'JSON',
  13: 'BSON',
  14: 'UUID',
  15: 'FLOAT16',
  16: 'VARIANT',
  17: 'GEOMETRY',
  18: 'GEOGRAPHY',
} as const;

/** `LogicalType`: the newer annotations. */
export type LogicalType =
  | { type: (typeof PLAIN_LOGICAL_TYPES)[keyof typeof PLAIN_LOGICAL_TYPES] | 'INTERVAL' }
  | { type: 'DECIMAL'; precision: number; scale: number }
  | { type: 'TIME' | 'TIMESTAMP'; isAdjustedToUTC: boolean; unit: TimeUnit }
  | { type: 'INTEGER'; bitWidth: number; isSigned: boolean };

/** A column or a group of columns, by the format's own names (`SchemaElement`). */
export interface SchemaElement {
  /** Absent for groups. */
  readonly type?: PhysicalType;
  readonly type_length?: number;
  readonly repetition_type?: (typeof REPETITION_TYPES)[number];
  readonly name: string;
  readonly num_children?: number;
  readonly converted_type?: ConvertedType;
  readonly scale?: number;
  readonly precision?: number;
  readonly logical_type?: LogicalType;
}

/** An element with its children; the file lists them one after another. */
export interface SchemaTree {
  readonly element: SchemaElement;
  readonly children: SchemaTree[];
  /** Names from the root, which is not named. */
  readonly path: string[];
}

/** Levels of nesting; Arrow's writers stop at 64. */
const MAX_DEPTH = 100;

export function schemaTree(schema: readonly SchemaElement[]): SchemaTree {
  let next = 0;
  const read = (path: string[]): SchemaTree => {
    const element = schema[next];
    next += 1;
    if (element === undefined) throw damaged('its schema ends early');
    if (path.length > MAX_DEPTH) throw unsupported(`its columns are nested more than ${MAX_DEPTH} deep`);
    const children: SchemaTree[] = [];
    for (let child = 0; child < (element.num_children ?? 0); child += 1) {
      children.push(read([...path, schema[next]?.name ?? '']));
    }
    return { element, children, path };
  };
  return read([]);
}

/** Repetition level of an entry that continues the innermost list. */
export function maxRepetitionLevel(path: readonly SchemaTree[]): number {
  return path.filter(({ element }) => element.repetition_type === 'REPEATED').length;
}

/** Definition level of a value that is not null. The root does not count. */
export function maxDefinitionLevel(path: readonly SchemaTree[]): number {
  return path.slice(1).filter(({ element }) => element.repetition_type !== 'REQUIRED').length;
}

export function isList({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'LIST' || logical?.type === 'LIST';
}

/** What a list repeats, or its only member ("Backward-compatibility rules"); null if the node is not a list. */
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

export function isRepeated({ element }: SchemaTree): boolean {
  return element.repetition_type === 'REPEATED';
}

export function isMap({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
}

import { JsonlError } from '@svc/jsonl-v23';
import { parseJson } from '@svc/jsonl-v23/json';
import { TableError } from '../errors.ts';
import { decodeArrowSchema } from '../schema/arrow-schema.ts';
import {
  type Feature,
  type Features,
  featuresFromJson,
  type NamedFeature,
  valueFeature,
} from '../schema/features.ts';
import type { SchemaElement } from './metadata/schema.ts';

/** What of a file's footer tells about its columns. */
export interface DescribedColumns {
  schema: SchemaElement[];
  key_value_metadata?: ReadonlyArray<{ key: string; value?: string | undefined }> | undefined;
}

const MAX_DEPTH = 100;
const TIME_UNITS = { MILLIS: 'ms', MICROS: 'us', NANOS: 'ns' };

/**
 * The columns of a Parquet file. What each is says, in this order: the `huggingface` entry of the file's metadata, the
 * `ARROW:schema` entry, the Parquet schema itself. Names and order are those of the schema.
 *
 * @param metadata the file's footer, as it was read (before `rawMetadata`)
 * @throws TableError `damaged_file` where the schema makes no tree
 */
export function featuresFromParquet(metadata: DescribedColumns): Features {
  const arrow = byName(arrowFeatures(metadata));
  const declared = byName(declaredFeatures(metadata));
  return readSchema(metadata.schema).map((column) => {
    const { name } = column;
    const stored = refine(column.feature, arrow.get(name));
    return { name, feature: overlay(stored, declared.get(name)) };
  });
}

/**
 * Puts what a dataset declares over what its files hold, column by column: names of class labels, images and the like.
 * A declaration that does not fit what is stored is left aside.
 *
 * @param options.addMissing adds declared columns that the files lack, which then hold nulls
 */
export function applyDeclared(
  stored: Features,
  declared: Features | null,
  options: { addMissing?: boolean } = {},
): Features {
  if (declared === null) return stored;
  const wanted = byName(declared);
  const present = new Set(stored.map(({ name }) => name));
  const features = stored.map(({ name, feature }) => ({ name, feature: overlay(feature, wanted.get(name)) }));
  const missing = options.addMissing === true ? declared.filter(({ name }) => !present.has(name)) : [];
  return [...features, ...missing];
}

/**
 * The footer with annotations taken off that would make the reader lose something, so that it hands out cells in the
 * form that `compileCell` takes: decimals unscaled, JSON as text, maps as lists of keys and values. The file itself
 * is read as before.
 */
export function rawMetadata<T extends DescribedColumns>(metadata: T): T {
  return { ...metadata, schema: metadata.schema.map(rawElement) };
}

function rawElement(element: SchemaElement): SchemaElement {
  const { converted_type: converted, logical_type: logical, ...rest } = element;
  // The reader knows lists by this mark alone; newer files may only have the other.
  if (isList(element)) return (element.num_children ?? 0) > 0 ? { ...rest, converted_type: 'LIST' } : rest;
  if (isMap(element)) return rest;
  const marks = [converted, logical?.type];
  if (marks.some((mark) => mark === 'DECIMAL' || mark === 'BSON' || mark === 'INTERVAL')) return rest;
  if (marks.some((mark) => mark === 'GEOMETRY' || mark === 'GEOGRAPHY')) return rest;
  if (marks.includes('JSON')) return { ...rest, converted_type: 'UTF8' };
  // Dates, too, the reader knows by the older mark alone.
  if (marks.includes('DATE')) return { ...rest, converted_type: 'DATE' };
  return element;
}

function isList({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'LIST' || logical?.type === 'LIST';
}

function isMap({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
}

/** An element of the schema with its children; the file lists them one after another. */
interface Node {
  element: SchemaElement;
  children: Node[];
}

function readSchema(schema: readonly SchemaElement[]): NamedFeature[] {
  let next = 0;
  const read = (depth: number): Node => {
    const element = schema[next];
    next += 1;
    if (element === undefined || depth > MAX_DEPTH) {
      throw new TableError('damaged_file', 'The schema of a Parquet file makes no tree');
    }
    const children: Node[] = [];
    for (let index = 0; index < (element.num_children ?? 0); index += 1) children.push(read(depth + 1));
    return { element, children };
  };
  return read(0).children.map(toNamed);
}

function toNamed(node: Node): NamedFeature {
  const feature = toFeature(node);
  const repeated = node.element.repetition_type === 'REPEATED';
  return { name: node.element.name, feature: repeated ? listOf(feature) : feature };
}

/** The feature of a node, without its own repetition. */
function toFeature({ element, children }: Node): Feature {
  const [child] = children;
  if (child === undefined) return leafFeature(element);
  if (isList(element) && children.length === 1 && child.children.length <= 1 && isRepeated(child)) {
    const item = child.children[0];
    return listOf(item === undefined ? toFeature(child) : toNamed(item).feature);
  }
  const [key, value] = child.children;
  if (
    isMap(element) &&
    children.length === 1 &&
    key !== undefined &&
    value !== undefined &&
    isRepeated(child)
  ) {
    return { kind: 'map', key: toFeature(key), value: toFeature(value) };
  }
  return { kind: 'struct', fields: children.map(toNamed) };
}

function isRepeated({ element }: Node): boolean {
  return element.repetition_type === 'REPEATED';
}

/** Parquet's logical types, and the converted types that older files have in their place. */
function leafFeature(element: SchemaElement): Feature {
  const { type, converted_type: converted, logical_type: logical, type_length: length } = element;
  if (logical?.type === 'DECIMAL') return decimal(logical.precision, logical.scale);
  if (converted === 'DECIMAL') return decimal(element.precision ?? 0, element.scale ?? 0);
  switch (logical?.type) {
    case 'INTEGER':
      return valueFeature(`${logical.isSigned ? 'int' : 'uint'}${logical.bitWidth}`);
    case 'TIMESTAMP':
      return valueFeature(
        `timestamp[${TIME_UNITS[logical.unit]}${logical.isAdjustedToUTC ? ', tz=UTC' : ''}]`,
      );
    case 'TIME':
      return valueFeature(logical.unit === 'MILLIS' ? 'time32[ms]' : `time64[${TIME_UNITS[logical.unit]}]`);
    case 'NULL':
      return valueFeature('null');
    case 'FLOAT16':
      return valueFeature('float16');
    case 'UUID':
      return valueFeature('string');
  }
  switch (converted ?? logical?.type) {
    case 'UTF8':
    case 'STRING':
    case 'ENUM':
      return valueFeature('string');
    case 'JSON':
      return { kind: 'json' };
    case 'DATE':
      return valueFeature('date32');
    case 'TIME_MILLIS':
      return valueFeature('time32[ms]');
    case 'TIME_MICROS':
      return valueFeature('time64[us]');
    case 'TIMESTAMP_MILLIS':
      return valueFeature('timestamp[ms, tz=UTC]');
    case 'TIMESTAMP_MICROS':
      return valueFeature('timestamp[us, tz=UTC]');
    case 'UINT_8':
    case 'UINT_16':
    case 'UINT_32':
    case 'UINT_64':
    case 'INT_8':
    case 'INT_16':
    case 'INT_32':
    case 'INT_64':
      return valueFeature(converted!.toLowerCase().replace('_', ''));
  }
  switch (type) {
    case 'BOOLEAN':
      return valueFeature('bool');
    case 'INT32':
      return valueFeature('int32');
    case 'INT64':
      return valueFeature('int64');
    case 'INT96':
      return valueFeature('timestamp[ns]');
    case 'FLOAT':
      return valueFeature('float32');
    case 'DOUBLE':
      return valueFeature('float64');
    case 'FIXED_LEN_BYTE_ARRAY':
      return valueFeature(`fixed_size_binary[${length ?? 0}]`);
    default:
      return valueFeature('binary');
  }
}

function decimal(precision: number, scale: number): Feature {
  return valueFeature(`decimal${precision > 38 ? 256 : 128}(${precision}, ${scale})`);
}

function listOf(item: Feature): Feature {
  return { kind: 'list', item, length: null, large: false };
}

/** What Arrow says about a stored type, where it is of the same build; Parquet's own types say the rest. */
function refine(stored: Feature, arrow: Feature | undefined): Feature {
  if (arrow === undefined) return stored;
  if (stored.kind === 'list' && arrow.kind === 'list')
    return { ...arrow, item: refine(stored.item, arrow.item) };
  if (stored.kind === 'list' && arrow.kind === 'array') return arrow;
  if (stored.kind === 'map' && arrow.kind === 'map') {
    return { kind: 'map', key: refine(stored.key, arrow.key), value: refine(stored.value, arrow.value) };
  }
  if (stored.kind === 'struct' && arrow.kind === 'struct') {
    const inner = byName(arrow.fields);
    return {
      kind: 'struct',
      fields: stored.fields.map(({ name, feature }) => ({ name, feature: refine(feature, inner.get(name)) })),
    };
  }
  const leaves =
    (stored.kind === 'value' || stored.kind === 'json') && (arrow.kind === 'value' || arrow.kind === 'json');
  return leaves && fitsStorage(stored, arrow) ? arrow : stored;
}

/** Whether cells stored as one plain type can be read as another. */
function fitsStorage(stored: Feature, wanted: Feature): boolean {
  return (
    storageClass(stored) === storageClass(wanted) || (isInteger(stored) && /^duration/.test(nameOf(wanted)))
  );
}

/** Puts a declared feature over a stored one where it fits. */
function overlay(stored: Feature, declared: Feature | undefined): Feature {
  if (declared === undefined) return stored;
  // A column of nulls may be anything.
  if (nameOf(stored) === 'null') return declared;
  switch (declared.kind) {
    case 'class_label':
      return isInteger(stored) || storageClass(stored) === 'text' ? declared : stored;
    case 'media':
      return stored.kind === 'struct' || ['text', 'binary'].includes(storageClass(stored))
        ? declared
        : stored;
    case 'json':
      return storageClass(stored) === 'text' ? declared : stored;
    case 'translation':
      return stored.kind === 'struct' ? declared : stored;
    case 'array':
      return stored.kind === 'list' ? declared : stored;
    case 'list':
      return stored.kind === 'list' ? { ...declared, item: overlay(stored.item, declared.item) } : stored;
    case 'struct': {
      if (stored.kind !== 'struct') return stored;
      const inner = byName(declared.fields);
      return {
        kind: 'struct',
        fields: stored.fields.map(({ name, feature }) => ({
          name,
          feature: overlay(feature, inner.get(name)),
        })),
      };
    }
    case 'map':
      return stored.kind === 'map' ? declared : stored;
    case 'value':
      return stored.kind === 'value' && (fitsStorage(stored, declared) || isUnmarkedText(stored, declared))
        ? declared
        : stored;
    case 'unknown':
      return declared;
  }
}

/** Older writers stored texts as bytes without saying that they are texts. */
function isUnmarkedText(stored: Feature, declared: Feature): boolean {
  return nameOf(stored) === 'binary' && storageClass(declared) === 'text';
}

/** What a plain type's cells are when they come out of a file; types of one class read alike. */
function storageClass(feature: Feature): string {
  if (feature.kind === 'json') return 'text';
  const name = nameOf(feature);
  if (/string/.test(name)) return 'text';
  if (/binary/.test(name)) return 'binary';
  if (/^(?:timestamp|date|decimal|duration|float)/.test(name)) return /^[a-z]+/.exec(name)![0];
  // Seconds are stored as milliseconds; all others as they are called.
  if (/^time/.test(name)) return name.replace('[s]', '[ms]');
  if (/^u?int/.test(name)) return 'integer';
  return name;
}

function isInteger(feature: Feature): boolean {
  return storageClass(feature) === 'integer';
}

function nameOf(feature: Feature): string {
  return feature.kind === 'value' ? feature.dtype : feature.kind;
}

function arrowFeatures(metadata: DescribedColumns): Features {
  const entry = findEntry(metadata, 'ARROW:schema');
  return (entry === undefined ? null : decodeArrowSchema(entry)) ?? [];
}

function declaredFeatures(metadata: DescribedColumns): Features {
  const entry = findEntry(metadata, 'huggingface');
  if (entry === undefined) return [];
  try {
    const value = parseJson(entry);
    const info = member(value, 'info');
    return featuresFromJson(member(info, 'features'));
  } catch (error) {
    // Metadata that cannot be read is no reason to refuse the data.
    if (error instanceof JsonlError) return [];
    throw error;
  }
}

function member(value: ReturnType<typeof parseJson>, key: string): ReturnType<typeof parseJson> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.entries(value).find(([name]) => name === key)?.[1] ?? null;
}

function findEntry(metadata: DescribedColumns, key: string): string | undefined {
  return metadata.key_value_metadata?.find((entry) => entry.key === key)?.value;
}

function byName(features: Features): Map<string, Feature> {
  return new Map(features.map(({ name, feature }) => [name, feature]));
}

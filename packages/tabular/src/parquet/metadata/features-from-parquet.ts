import { JsonlError } from '@svc/jsonl-v23';
import { parseJson } from '@svc/jsonl-v23/json';
import { shorten } from '../../errors.ts';
import { byName, overlayFeature, refineFeature } from '../../schema/apply-declared.ts';
import { decodeArrowSchema } from '../../schema/arrow-schema.ts';
import {
  type Feature,
  type Features,
  featuresFromJson,
  listOf,
  type NamedFeature,
  valueFeature,
} from '../../schema/features.ts';
import { unsupported } from '../parquet-error.ts';
import { isMap, isRepeated, listElement, type SchemaElement, type SchemaTree, schemaTree } from './schema.ts';

/** The parts of a footer that describe the columns of a file. */
interface DescribedColumns {
  readonly schema: readonly SchemaElement[];
  readonly key_value_metadata?: ReadonlyArray<{ key: string; value?: string | undefined }> | undefined;
}

const TIME_UNITS = { MILLIS: 'ms', MICROS: 'us', NANOS: 'ns' };

/**
 * The columns of a Parquet file. Their types come from, in this order: the `huggingface` entry of the file's metadata,
 * the `ARROW:schema` entry, the Parquet schema itself. The schema gives names and order.
 *
 * @param metadata the file's footer
 * @throws ParquetError if the schema is not a tree, or has a VARIANT
 */
export function featuresFromParquet(metadata: DescribedColumns): Features {
  const arrow = byName(arrowFeatures(metadata));
  const declared = byName(declaredFeatures(metadata));
  return schemaTree(metadata.schema).children.map((node) => {
    const column = toNamed(node);
    const { name } = column;
    const stored = refineFeature(column.feature, arrow.get(name));
    return { name, feature: overlayFeature(stored, declared.get(name)) };
  });
}

function toNamed(node: SchemaTree): NamedFeature {
  const feature = toFeature(node);
  return { name: node.element.name, feature: isRepeated(node) ? listOf(feature) : feature };
}

/** The feature of a node, without its own repetition. */
function toFeature(node: SchemaTree): Feature {
  const { element, children } = node;
  const [child] = children;
  if (element.logical_type?.type === 'VARIANT') {
    const column = shorten(node.path.join('.'));
    throw unsupported(`column ${column} is a VARIANT; write it as JSON text or as columns of other types`);
  }
  if (child === undefined) return leafFeature(element);
  const item = listElement(node);
  if (item !== null) return listOf(toFeature(item));
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
      return valueFeature((converted ?? '').toLowerCase().replace('_', ''));
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
    // The data can be read without this metadata.
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

import { getMember, isJsonObject, tryParseJson } from '@svc/jsonl-v23/json';
import { shorten } from '../../errors.ts';
import { overlay, overlayFeature, refineFeature } from '../../schema/apply-declared.ts';
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
import {
  isMap,
  isRepeated,
  listElement,
  type PhysicalType,
  type SchemaElement,
  type SchemaTree,
  schemaTree,
} from './schema.ts';

interface DescribedColumns {
  readonly schema: readonly SchemaElement[];
  readonly key_value_metadata?: ReadonlyArray<{ key: string; value?: string | undefined }> | undefined;
}

const TIME_UNITS = { MILLIS: 'ms', MICROS: 'us', NANOS: 'ns' };

/**
 * The columns of a Parquet file. Their types come from, in this order: the `huggingface` entry of the file's metadata,
 * the `ARROW:schema` entry, the Parquet schema itself. The schema gives names and order.
 * @throws ParquetError if the schema is not a tree, or has a VARIANT
 */
export function featuresFromParquet(metadata: DescribedColumns): Features {
  const columns = schemaTree(metadata.schema).children.map(toNamed);
  const stored = overlay(columns, arrowFeatures(metadata), refineFeature);
  return overlay(stored, declaredFeatures(metadata), overlayFeature);
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

const ANNOTATED: Readonly<Record<string, string>> = {
  ...{ NULL: 'null', FLOAT16: 'float16', UUID: 'string', UTF8: 'string', STRING: 'string', ENUM: 'string' },
  ...{ DATE: 'date32', TIME_MILLIS: 'time32[ms]', TIME_MICROS: 'time64[us]' },
  ...{ TIMESTAMP_MILLIS: 'timestamp[ms, tz=UTC]', TIMESTAMP_MICROS: 'timestamp[us, tz=UTC]' },
  ...{ UINT_8: 'uint8', UINT_16: 'uint16', UINT_32: 'uint32', UINT_64: 'uint64' },
  ...{ INT_8: 'int8', INT_16: 'int16', INT_32: 'int32', INT_64: 'int64' },
};
const PLAIN: Readonly<Partial<Record<PhysicalType, string>>> = {
  ...{ BOOLEAN: 'bool', INT32: 'int32', INT64: 'int64', INT96: 'timestamp[ns]' },
  ...{ FLOAT: 'float32', DOUBLE: 'float64' },
};

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
  }
  const annotation = converted ?? logical?.type ?? '';
  if (annotation === 'JSON') return { kind: 'json' };
  const annotated = ANNOTATED[annotation];
  if (annotated !== undefined) return valueFeature(annotated);
  if (type === 'FIXED_LEN_BYTE_ARRAY') return valueFeature(`fixed_size_binary[${length ?? 0}]`);
  return valueFeature((type && PLAIN[type]) ?? 'binary');
}

function decimal(precision: number, scale: number): Feature {
  return valueFeature(`decimal${precision > 38 ? 256 : 128}(${precision}, ${scale})`);
}

function arrowFeatures(metadata: DescribedColumns): Features {
  const entry = findEntry(metadata, 'ARROW:schema');
  return (entry === undefined ? null : decodeArrowSchema(entry)) ?? [];
}

/** The data can be read without this metadata: what is no JSON declares nothing. */
function declaredFeatures(metadata: DescribedColumns): Features {
  const value = tryParseJson(findEntry(metadata, 'huggingface') ?? '');
  const info = isJsonObject(value) ? getMember(value, 'info') : undefined;
  return featuresFromJson((isJsonObject(info) ? getMember(info, 'features') : undefined) ?? null);
}

function findEntry(metadata: DescribedColumns, key: string): string | undefined {
  return metadata.key_value_metadata?.find((entry) => entry.key === key)?.value;
}

import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import type { Feature } from '../../schema/features.ts';
import { damaged } from '../parquet-error.ts';
import { VariantNames } from './variant-names.ts';
import { checkVariantDepth, decodeVariant, type VariantLimit } from './variant-value.ts';

/** Compiles the conversion of a plain value. */
type CompileCell = (feature: Feature) => (cell: unknown) => JsonValue;

/** What the parts of one VARIANT share. */
interface Variant {
  readonly names: VariantNames;
  readonly limit: VariantLimit;
}

/** Names that are kept for the next row, which usually has the same. */
const MAX_KEPT_BYTES = 1024;

/** What an object does not have. */
const MISSING = Symbol('missing');
type Part = JsonValue | typeof MISSING;
/** @param depth levels around the part */
type ReadPart = (cell: unknown, variant: Variant, depth: number) => Part;
type ReadTyped<T extends JsonValue> = (cell: unknown, variant: Variant, depth: number) => T;

/**
 * Compiles the conversion of a VARIANT column (Parquet format, "Variant Shredding"): each value is stored in binary, in the
 * columns of `typed`, or an object in both.
 *
 * The converter throws ParquetError where these contradict each other or the format.
 */
export function compileVariant(
  typed: Feature | null,
  limit: VariantLimit,
  compileCell: CompileCell,
): (cell: unknown) => JsonValue {
  const read = compilePart(typed, compileCell);
  let last: VariantNames | undefined;
  return (cell) => {
    const metadata = memberOf(cell, 'metadata');
    if (!(metadata instanceof Uint8Array)) throw damaged('a VARIANT has no names');
    let names: VariantNames;
    if (last !== undefined && isEqual(last.bytes, metadata)) names = last;
    else if (metadata.length > MAX_KEPT_BYTES) names = new VariantNames(metadata);
    else {
      // A copy: the page of the bytes is freed.
      names = new VariantNames(new Uint8Array(metadata));
      last = names;
    }
    const value = read(cell, { names, limit }, 0);
    return value === MISSING ? null : value;
  };
}

function compilePart(typed: Feature | null, compileCell: CompileCell): ReadPart {
  if (typed === null) return readStored;
  if (typed.kind === 'struct') {
    const readObject = compileObject(typed, compileCell);
    const shredded = new Set(typed.fields.map(({ name }) => name));
    return (cell, variant, depth) => {
      const columns = memberOf(cell, 'typed_value');
      if (columns === null) return readStored(cell, variant, depth);
      const object = readObject(columns, variant, depth + 1);
      const rest = readStored(cell, variant, depth);
      return rest === MISSING ? object : joinObjects(object, rest, shredded);
    };
  }
  const readTyped = typed.kind === 'list' ? compileList(typed, compileCell) : compileLeaf(typed, compileCell);
  return (cell, variant, depth) => {
    const value = memberOf(cell, 'typed_value');
    if (value === null) return readStored(cell, variant, depth);
    if (memberOf(cell, 'value') !== null) throw damaged('a VARIANT has two values');
    return readTyped(value, variant, depth + 1);
  };
}

/** What is stored in binary. */
function readStored(cell: unknown, { names, limit }: Variant, depth: number): Part {
  const value = memberOf(cell, 'value');
  return value instanceof Uint8Array ? decodeVariant(value, names, limit, depth) : MISSING;
}

function compileLeaf(feature: Feature, compileCell: CompileCell): ReadTyped<JsonValue> {
  const convert = compileCell(feature);
  return (cell, { limit }) => {
    limit.take(1);
    return convert(cell);
  };
}

function compileList({ item }: Feature & { kind: 'list' }, compileCell: CompileCell): ReadTyped<JsonValue[]> {
  const readItem = compilePart(item.kind === 'variant' ? item.typed : item, compileCell);
  return (cell, variant, depth) => {
    checkVariantDepth(depth);
    if (!Array.isArray(cell)) throw damaged('an array of a VARIANT is none');
    variant.limit.take(1 + cell.length);
    return cell.map((inner) => {
      const value = readItem(inner, variant, depth);
      return value === MISSING ? null : value;
    });
  };
}

function compileObject(
  { fields }: Feature & { kind: 'struct' },
  compileCell: CompileCell,
): ReadTyped<JsonObject> {
  const members = fields.map(({ name, feature }) => ({
    name,
    read: compilePart(feature.kind === 'variant' ? feature.typed : feature, compileCell),
  }));
  return (cell, variant, depth) => {
    checkVariantDepth(depth);
    variant.limit.take(1);
    const object: JsonObject = {};
    for (const { name, read } of members) {
      const value = read(memberOf(cell, name), variant, depth);
      if (value !== MISSING) setMember(object, name, value);
    }
    return object;
  };
}

/** An object whose members are stored in two places; those that have columns must not be in the other. */
function joinObjects(object: JsonObject, rest: JsonValue, shredded: ReadonlySet<string>): JsonObject {
  if (!isJsonObject(rest)) throw damaged('a VARIANT has two values');
  for (const [name, value] of Object.entries(rest)) {
    if (shredded.has(name)) throw damaged('an object of a VARIANT has two members of one name');
    setMember(object, name, value);
  }
  return object;
}

/** A member of a struct; null if it has none. */
function memberOf(cell: unknown, name: string): unknown {
  if (typeof cell !== 'object' || cell === null || !Object.hasOwn(cell, name)) return null;
  return (cell as Record<string, unknown>)[name] ?? null;
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

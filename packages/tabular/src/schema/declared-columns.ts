import { isBase64 } from '@svc/jsonl-v23/bytes';
import { canonicalJson, ExactNumber, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { boundWarnings, shorten } from '../errors.ts';
import type { Convert } from './cast.ts';
import { dtypeOf, type Feature, type Features, type NamedFeature } from './features.ts';

interface Column extends NamedFeature {
  readonly convert: Convert;
  misfit: JsonValue;
}

/** Finds values that do not have the declared type of their column. They are kept, although the hub's loader fails. */
export class DeclaredColumns {
  readonly #columns: Column[];

  constructor(declared: Features, casts: ReadonlyMap<string, Convert>) {
    this.#columns = declared.map(({ name, feature }) => ({
      name,
      feature,
      convert: casts.get(name) ?? ((value) => value),
      misfit: null,
    }));
  }

  /** @param read the value of a column in a row; undefined if the row does not have the column */
  add(read: (name: string) => JsonValue | undefined): void {
    for (const column of this.#columns) {
      if (column.misfit !== null) continue;
      const value = read(column.name) ?? null;
      if (value !== null && !isOfType(column.convert(value), column.feature)) column.misfit = value;
    }
  }

  warnings(): string[] {
    const found = this.#columns
      .filter(({ misfit }) => misfit !== null)
      .map(
        ({ name, feature, misfit }) =>
          `Column ${shorten(name)} is declared as ${dtypeOf(feature)}, but has values such as ${quote(misfit)}, which are kept.`,
      );
    return boundWarnings(
      found,
      (more) => `${more} more columns have values that are not of their declared type.`,
    );
  }
}

function quote(value: JsonValue): string {
  return typeof value === 'string' ? shorten(value) : canonicalJson(value).slice(0, 100);
}

function isOfType(value: JsonValue, feature: Feature): boolean {
  if (value === null) return true;
  switch (feature.kind) {
    case 'value':
      return isOfDtype(value, feature.dtype);
    case 'class_label':
      return typeof value === 'string' && feature.names.includes(value);
    case 'list':
      return Array.isArray(value) && value.every((item) => isOfType(item, feature.item));
    case 'struct':
      return (
        isJsonObject(value) &&
        feature.fields.every((field) => isOfType(value[field.name] ?? null, field.feature))
      );
    case 'media':
      return isJsonObject(value);
    default:
      return true;
  }
}

function isOfDtype(value: JsonValue, dtype: string): boolean {
  if (/^u?int/.test(dtype)) return isInteger(value, dtype);
  if (/^(?:float|decimal|duration)/.test(dtype)) {
    return typeof value === 'number' || value instanceof ExactNumber;
  }
  if (dtype === 'bool') return typeof value === 'boolean';
  if (dtype === 'null') return false;
  if (typeof value !== 'string') return !/^(?:timestamp|date|time|.*(?:string|binary))/.test(dtype);
  if (/binary/.test(dtype)) return isBase64(value);
  if (dtype.startsWith('timestamp')) return /^[+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value);
  if (dtype.startsWith('date')) return /^[+-]?\d{4,}-\d\d-\d\d$/.test(value);
  if (dtype.startsWith('time')) return /^\d\d:\d\d:\d\d/.test(value);
  return true;
}

function isInteger(value: JsonValue, dtype: string): boolean {
  const text = value instanceof ExactNumber ? value.text : typeof value === 'number' ? String(value) : '';
  const [, unsigned, bits = '64'] = /^(u?)int(8|16|32|64)$/.exec(dtype) ?? [];
  if (!/^-?\d{1,20}$/.test(text)) return false;
  const whole = BigInt(text);
  return (unsigned === 'u' ? BigInt.asUintN : BigInt.asIntN)(Number(bits), whole) === whole;
}

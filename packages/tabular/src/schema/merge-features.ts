import { nanosOf, parseTimeType } from '../scalars/times.ts';
import { dtypeOf, type Feature, type Features, valueFeature } from './features.ts';

/**
 * Merges the columns of several files: all columns of all files, in the order in which they appear, each with the
 * narrowest type for the values of every file. Integers widen, then become float64; null becomes any type; lists and
 * structs are merged inside; types without a common one become json. Rows keep the types of their file.
 */
export function mergeFeatures(all: Iterable<Features>): Features {
  const columns = new Map<string, Feature>();
  for (const features of all) {
    for (const { name, feature } of features) {
      const known = columns.get(name);
      columns.set(name, known === undefined ? feature : merge(known, feature));
    }
  }
  return [...columns].map(([name, feature]) => ({ name, feature }));
}

function merge(a: Feature, b: Feature): Feature {
  if (isNull(a)) return b;
  if (isNull(b) || dtypeOf(a) === dtypeOf(b)) return a.kind === 'class_label' ? mergeLabels(a, b) : a;
  if (a.kind === 'value' && b.kind === 'value') return mergeValues(a.dtype, b.dtype);
  if (a.kind === 'list' && b.kind === 'list') {
    const length = a.length === b.length ? a.length : null;
    return { kind: 'list', item: merge(a.item, b.item), length, large: a.large || b.large };
  }
  if (a.kind === 'struct' && b.kind === 'struct')
    return { kind: 'struct', fields: mergeFeatures([a.fields, b.fields]) };
  // The number of a label and plain numbers: both are int64.
  if (a.kind === 'class_label' && b.kind === 'value') return mergeValues('int64', b.dtype);
  if (b.kind === 'class_label' && a.kind === 'value') return mergeValues(a.dtype, 'int64');
  return { kind: 'json' };
}

/** Labels of both; files of one dataset seldom have other names for the same number. */
function mergeLabels(a: Feature & { kind: 'class_label' }, b: Feature): Feature {
  return b.kind === 'class_label' && b.names.length > a.names.length ? b : a;
}

function mergeValues(a: string, b: string): Feature {
  const number = mergeNumbers(a, b);
  if (number !== null) return valueFeature(number);
  if (/string/.test(a) && /string/.test(b)) return valueFeature('string');
  if (/binary/.test(a) && /binary/.test(b)) return valueFeature('binary');
  const unit = mergeUnits(a, b);
  return unit === null ? { kind: 'json' } : valueFeature(unit);
}

const NUMBER = /^(u?int|float)(8|16|32|64)$/;

function mergeNumbers(a: string, b: string): string | null {
  const [, kindA, bitsA] = NUMBER.exec(a) ?? [];
  const [, kindB, bitsB] = NUMBER.exec(b) ?? [];
  if (kindA === undefined || kindB === undefined) return null;
  const bits = Math.max(Number(bitsA), Number(bitsB));
  if (kindA === kindB) return `${kindA}${bits}`;
  if (kindA === 'float' || kindB === 'float') return 'float64';
  // With and without a sign: the next width has room for both, and 64 bits have no next.
  const unsigned = Number(kindA === 'uint' ? bitsA : bitsB);
  const signed = Number(kindA === 'uint' ? bitsB : bitsA);
  const width = signed > unsigned ? signed : unsigned * 2;
  return width > 64 ? 'float64' : `int${width}`;
}

/** Times of one kind and zone in different units: the finer one. */
function mergeUnits(a: string, b: string): string | null {
  const [timeA, timeB] = [parseTimeType(a), parseTimeType(b)];
  if (timeA === null || timeB === null || timeA.kind === 'time') return null;
  if (timeA.kind !== timeB.kind || timeA.zone !== timeB.zone) return null;
  return nanosOf(timeA.unit) < nanosOf(timeB.unit) ? a : b;
}

function isNull(feature: Feature): boolean {
  return feature.kind === 'value' && feature.dtype === 'null';
}

import { boundWarnings, shorten } from '../errors.ts';
import { dtypeOf, type Feature, type Features } from './features.ts';

/**
 * Overlays the types of stored columns with declared ones: names of class labels, images and the like. A declared type
 * that does not fit the stored one is ignored, as `unappliedWarnings` says.
 * @param options.addMissing adds declared columns that the files do not have; their cells are null
 */
export function applyDeclared(
  stored: Features,
  declared: Features | undefined,
  options: { addMissing?: boolean } = {},
): Features {
  if (declared === undefined) return stored;
  const present = new Set(stored.map(({ name }) => name));
  const missing = options.addMissing === true ? declared.filter(({ name }) => !present.has(name)) : [];
  return [...overlay(stored, declared, overlayFeature), ...missing];
}

/** Columns or members, each made of its own type and the other one of its name. */
export function overlay(
  features: Features,
  others: Features,
  choose: (own: Feature, other: Feature | undefined) => Feature,
): Features {
  const inner = byName(others);
  return features.map(({ name, feature }) => ({ name, feature: choose(feature, inner.get(name)) }));
}

/** The Arrow type of a stored column if it has the same structure, else Parquet's own type. */
export function refineFeature(stored: Feature, arrow: Feature | undefined): Feature {
  if (arrow === undefined) return stored;
  if (stored.kind === 'list' && arrow.kind === 'list')
    return { ...arrow, item: refineFeature(stored.item, arrow.item) };
  if (stored.kind === 'list' && arrow.kind === 'array') return arrow;
  if (stored.kind === 'map' && arrow.kind === 'map') {
    return {
      kind: 'map',
      key: refineFeature(stored.key, arrow.key),
      value: refineFeature(stored.value, arrow.value),
    };
  }
  if (stored.kind === 'struct' && arrow.kind === 'struct') {
    return { kind: 'struct', fields: overlay(stored.fields, arrow.fields, refineFeature) };
  }
  const leaves =
    (stored.kind === 'value' || stored.kind === 'json') && (arrow.kind === 'value' || arrow.kind === 'json');
  return leaves && fitsStorage(stored, arrow) ? arrow : stored;
}

function fitsStorage(stored: Feature, target: Feature): boolean {
  return (
    storageClass(stored) === storageClass(target) || (isInteger(stored) && /^duration/.test(nameOf(target)))
  );
}

/** The declared type of a column if it fits the stored one, else the stored one. */
export function overlayFeature(stored: Feature, declared: Feature | undefined): Feature {
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
      return stored.kind === 'list'
        ? { ...declared, item: overlayFeature(stored.item, declared.item) }
        : stored;
    case 'struct':
      if (stored.kind !== 'struct') return stored;
      return { kind: 'struct', fields: overlay(stored.fields, declared.fields, overlayFeature) };
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

export function unappliedWarnings(stored: Features, declared: Features = []): string[] {
  const declaredByName = byName(declared);
  const found = stored.flatMap(({ name, feature }) => {
    const types = unapplied(feature, declaredByName.get(name));
    if (types === null) return [];
    const [wanted, kept] = types.map(dtypeOf);
    return [
      `Column ${shorten(name)} is declared as ${wanted}, but stored as ${kept}: its values stay what they are, where the hub's loader converts them; \`types\` in the mapping does.`,
    ];
  });
  return boundWarnings(found, (more) => `${more} more columns are stored as another type than declared.`);
}

/** The first declared type, of a column or within it, that is not applied, and the stored one; null if all are. */
function unapplied(
  stored: Feature,
  declared: Feature | undefined,
): [declared: Feature, stored: Feature] | null {
  if (declared === undefined) return null;
  if (stored.kind === 'list' && declared.kind === 'list') return unapplied(stored.item, declared.item);
  if (stored.kind === 'struct' && declared.kind === 'struct') {
    const inner = byName(declared.fields);
    for (const { name, feature } of stored.fields) {
      const found = unapplied(feature, inner.get(name));
      if (found !== null) return found;
    }
    return null;
  }
  const isKept = overlayFeature(stored, declared) === stored && dtypeOf(stored) !== dtypeOf(declared);
  return isKept ? [declared, stored] : null;
}

/** Older writers stored texts as bytes, without the annotation for texts. */
function isUnmarkedText(stored: Feature, declared: Feature): boolean {
  return nameOf(stored) === 'binary' && storageClass(declared) === 'text';
}

/** The storage class of a plain type; cells of types of one class are read alike. */
function storageClass(feature: Feature): string {
  if (feature.kind === 'json') return 'text';
  const name = nameOf(feature);
  if (/string/.test(name)) return 'text';
  if (/binary/.test(name)) return 'binary';
  if (/^(?:timestamp|date|decimal|duration|float)/.test(name)) return name.replace(/[^a-z].*$/s, '');
  // Seconds are stored as milliseconds.
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

export function byName(features: Features): Map<string, Feature> {
  return new Map(features.map(({ name, feature }) => [name, feature]));
}

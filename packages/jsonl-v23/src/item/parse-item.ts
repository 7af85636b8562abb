import { JsonlError } from '../errors.ts';
import {
  describeValue,
  getMember,
  isJsonObject,
  type JsonInput,
  type JsonValue,
} from '../json/json-value.ts';
import type { SourceLocation } from '../source-location.ts';
import { mapEntries, normaliseAsset, normaliseChecker } from './asset.ts';
import { ITEM_SCHEMA, type Item } from './item.ts';
import { compileRule, findViolations, type ValueRule, type Violation } from './value-rule.ts';

/**
 * Checks that a value is an item and normalises its assets and checker. The value is not changed; it is
 * returned itself if there is nothing to normalise.
 *
 * @throws JsonlError `not_an_object`, `invalid_item` (a known key has the wrong type), `invalid_asset`, each with `location`
 * and the JSON Pointer of the invalid value
 *
 * @example parseItem({ id: 1, assets: ['assets/a.png'] }) // { id: 1, assets: [{ path: 'assets/a.png' }] }
 */
export function parseItem(input: JsonInput, location: SourceLocation = {}): Item {
  const { item, errors } = readItem(input as JsonValue, location, 1);
  const [error] = errors;
  if (error !== undefined) throw error;
  return item;
}

/**
 * The item of a value, and the errors of one that is no item: of each key with the wrong type, each asset and the checker.
 */
export function readItem(
  value: JsonValue,
  location: SourceLocation,
  max: number,
): { readonly item: Item; readonly errors: readonly JsonlError[] } {
  if (!isJsonObject(value)) return { item: {}, errors: [notAnObject(value, location)] };
  const errors = findViolations(value, itemRule(), max).map((found) => invalidItem(found, location));
  const normalised = (member: JsonValue, normalise: () => JsonValue): JsonValue => {
    if (errors.length === max) return member;
    try {
      return normalise();
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      errors.push(error);
      return member;
    }
  };
  let item = value;
  const [assets, checker] = [getMember(value, 'assets'), getMember(value, 'checker')];
  if (assets !== undefined) {
    const entries = mapEntries(assets, (entry, name) =>
      normalised(entry, () => normaliseAsset(entry, name, location)),
    );
    if (entries !== assets) item = { ...item, assets: entries };
  }
  if (checker !== undefined) {
    const normal = normalised(checker, () => normaliseChecker(checker, location));
    if (normal !== checker) item = { ...item, checker: normal };
  }
  return { item: item as Item, errors };
}

function invalidItem({ path, problem }: Violation, location: SourceLocation): JsonlError {
  return new JsonlError('invalid_item', `${path} ${problem}`, { ...location, path });
}

function notAnObject(value: JsonValue, location: SourceLocation): JsonlError {
  const message = `An item must be an object, got ${describeValue(value)}`;
  return new JsonlError('not_an_object', message, { ...location, path: '' });
}

let rule: ValueRule | undefined;

/** Compiled at the first item and kept. */
function itemRule(): ValueRule {
  rule ??= compileRule(ITEM_SCHEMA);
  return rule;
}

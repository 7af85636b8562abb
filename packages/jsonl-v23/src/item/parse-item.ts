import { JsonlError } from '../errors.ts';
import {
  describeValue,
  getMember,
  isJsonObject,
  type JsonInput,
  type JsonObject,
  type JsonValue,
} from '../json/json-value.ts';
import type { SourceLocation } from '../source-location.ts';
import { assetErrors, normaliseAssets, normaliseChecker } from './asset.ts';
import { ITEM_SCHEMA, type Item } from './item.ts';
import { compileRule, findViolation, findViolations, type ValueRule, type Violation } from './value-rule.ts';

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
  const value = input as JsonValue;
  if (!isJsonObject(value)) throw notAnObject(value, location);
  checkTypes(value, location);

  let item = value;
  if (Object.hasOwn(value, 'assets')) {
    const assets = normaliseAssets(value['assets'] as JsonValue, location);
    if (assets !== value['assets']) item = { ...item, assets };
  }
  if (Object.hasOwn(value, 'checker')) {
    const checker = normaliseChecker(value['checker'] as JsonValue, location);
    if (checker !== value['checker']) item = { ...item, checker };
  }
  return item as Item;
}

/**
 * The errors of a value that is not an item: of each key with the wrong type, each asset and the checker. `parseItem`
 * throws the first.
 *
 * @param max errors that are looked for
 */
export function itemErrors(value: JsonValue, location: SourceLocation, max: number): JsonlError[] {
  if (!isJsonObject(value)) return [notAnObject(value, location)];
  const errors = findViolations(value, itemRule(), max).map((found) => invalidItem(found, location));
  const assets = getMember(value, 'assets');
  if (assets !== undefined) errors.push(...assetErrors(assets, location, max - errors.length));
  const checker = getMember(value, 'checker');
  if (checker !== undefined && errors.length < max) {
    try {
      normaliseChecker(checker, location);
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      errors.push(error);
    }
  }
  return errors;
}

function checkTypes(value: JsonObject, location: SourceLocation): void {
  const found = findViolation(value, itemRule());
  if (found !== null) throw invalidItem(found, location);
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

import { JsonlError } from '../errors.ts';
import { describeValue } from '../json/describe-value.ts';
import { isJsonObject, type JsonInput, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { SourceLocation } from '../source-location.ts';
import { normaliseAssets, normaliseChecker } from './asset.ts';
import { findViolation } from './find-violation.ts';
import type { Item } from './item.ts';
import { ITEM_SCHEMA } from './item-schema.ts';
import { compileRule, type ValueRule } from './value-rule.ts';

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
  if (!isJsonObject(value)) {
    throw new JsonlError('not_an_object', `An item must be an object, got ${describeValue(value)}`, {
      ...location,
      path: '',
    });
  }
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

function checkTypes(value: JsonObject, location: SourceLocation): void {
  const found = findViolation(value, itemRule());
  if (found === null) return;
  throw new JsonlError('invalid_item', `${found.path} ${found.problem}`, { ...location, path: found.path });
}

let rule: ValueRule | undefined;

/** Compiled at the first item and kept. */
function itemRule(): ValueRule {
  rule ??= compileRule(ITEM_SCHEMA);
  return rule;
}

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { normaliseAssets, normaliseChecker } from './asset.ts';
import { describeValue } from './describe-value.ts';
import { JsonlError } from './errors.ts';
import { ITEM_SCHEMA } from './item-schema.ts';
import { ExactNumber, getMember, isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';
import type { Place } from './place.ts';

/** A normalised item: an object whose known keys have the types of `ITEM_SCHEMA`, with normalised assets. */
export type Item = JsonObject;

/**
 * Checks that a value is an item and normalises its assets and checker. The value is not changed; where there
 * is nothing to normalise, it is given back itself.
 *
 * Throws JsonlError `not_an_object`, `invalid_item` (a known key of the wrong type) and `invalid_asset`, each
 * with `place` and the JSON Pointer of what is at fault.
 */
export function parseItem(value: JsonValue, place: Place = {}): Item {
  if (!isJsonObject(value)) {
    throw new JsonlError('not_an_object', `An item must be an object, found ${describeValue(value)}`, {
      ...place,
      path: '',
    });
  }
  checkTypes(value, place);

  let item: Item = value;
  if (Object.hasOwn(value, 'assets')) {
    const assets = normaliseAssets(value['assets'] as JsonValue, place);
    if (assets !== value['assets']) item = { ...item, assets };
  }
  if (Object.hasOwn(value, 'checker')) {
    const checker = normaliseChecker(value['checker'] as JsonValue, place);
    if (checker !== value['checker']) item = { ...item, checker };
  }
  return item;
}

function checkTypes(value: JsonObject, place: Place): void {
  const id = getMember(value, 'id');
  // The validator takes an ExactNumber for an object, so the one place for numbers is looked at here ...
  const isExactInteger = id instanceof ExactNumber && !id.text.includes('.');
  const validate = itemValidator();
  if (!validate(isExactInteger ? { ...value, id: 0 } : value)) throw typeError(validate.errors?.[0], place);
  // ... and the places for objects here.
  refuseNumber(value['inputs'], '/inputs', 'object', place);
  refuseNumber(value['checker'], '/checker', 'object or string or null', place);
  refuseNumber(value['assets'], '/assets', 'object or array', place);
  refuseNumber(value['meta'], '/meta', 'object', place);
  const criteria = value['criteria'];
  if (!Array.isArray(criteria)) return;
  for (let index = 0; index < criteria.length; index++) {
    refuseNumber(criteria[index], `/criteria/${index}`, 'string or object', place);
  }
}

function refuseNumber(value: JsonValue | undefined, path: string, expected: string, place: Place): void {
  if (!(value instanceof ExactNumber)) return;
  throw new JsonlError('invalid_item', `${path} must be ${expected}, found ${describeValue(value)}`, {
    ...place,
    path,
  });
}

function typeError(error: ErrorObject | undefined, place: Place): JsonlError {
  const path = error?.instancePath ?? '';
  let problem = 'is not valid';
  if (error?.keyword === 'type') {
    const expected = [error.params['type'] as string | string[]].flat().join(' or ');
    problem = `must be ${expected}, found ${describeValue(error.data)}`;
  } else if (error?.keyword === 'required') {
    problem = `must have the key "${error.params['missingProperty']}"`;
  }
  return new JsonlError('invalid_item', `${path} ${problem}`, { ...place, path });
}

let validator: ValidateFunction | undefined;

/** Compiled at the first item and kept: compiling takes longer than checking a thousand items. */
function itemValidator(): ValidateFunction {
  validator ??= new Ajv2020({ allowUnionTypes: true, verbose: true }).compile(ITEM_SCHEMA);
  return validator;
}

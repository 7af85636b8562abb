import {
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  schemaPredicate,
} from '@svc/jsonl-v23/json';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { pointerSteps } from '../item/canonical-text.ts';
import type { ConfigProblems, Steps } from './config-problems.ts';
import { PROVIDER_SCHEMAS, RUN_CONFIG_SHAPE } from './run-config-schema.ts';

interface Validators {
  readonly shape: ValidateFunction;
  readonly providers: Readonly<Record<string, ValidateFunction>>;
}

let compiled: Validators | undefined;

/** Compiled at the first use. */
function validators(): Validators {
  if (compiled === undefined) {
    const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, useDefaults: true, verbose: true });
    ajv.addVocabulary(['x-rule']);
    compiled = {
      shape: ajv.compile(RUN_CONFIG_SHAPE),
      providers: Object.fromEntries(
        Object.entries(PROVIDER_SCHEMAS).map(([type, schema]) => [type, ajv.compile(schema)]),
      ),
    };
  }
  return compiled;
}

/** Checks a configuration against the schema, and its provider against the schema of its type. */
export function checkSchema(config: JsonObject, problems: ConfigProblems): Record<string, unknown> {
  const { shape, providers } = validators();
  const checked = plainNumbers(config) as Record<string, unknown>;
  validate(shape, checked, [], problems);
  const { provider, select } = checked;
  if (isObject(provider)) {
    const { type } = provider;
    const validateProvider =
      typeof type === 'string' && Object.hasOwn(PROVIDER_SCHEMAS, type) ? providers[type] : undefined;
    if (validateProvider !== undefined) validate(validateProvider, provider, ['provider'], problems);
    else problems.add(`must be one of ${Object.keys(PROVIDER_SCHEMAS).join(', ')}`, ['provider', 'type']);
  }
  // An id may be any integer.
  if (isObject(select) && 'item_ids' in select)
    select['item_ids'] = (config['select'] as JsonObject)['item_ids'];
  return checked;
}

const isObject = (value: unknown): value is Record<string, unknown> => isJsonObject(value as JsonValue);

function validate(isValid: ValidateFunction, value: unknown, steps: Steps, problems: ConfigProblems): void {
  if (isValid(value)) return;
  for (const error of isValid.errors ?? []) {
    if (problems.isFull) return;
    const member = error.params['missingProperty'] ?? error.params['additionalProperty'];
    problems.add(schemaPredicate(error), [
      ...steps,
      ...pointerSteps(error.instancePath),
      ...(member === undefined ? [] : [String(member)]),
    ]);
  }
}

/** Members whose values no schema describes. */
const OPAQUE: ReadonlySet<string> = new Set(['params', 'checker']);

/**
 * A copy for the validator, which would see an {@link ExactNumber} as an object: for the schemas, a double is close enough.
 */
function plainNumbers(value: JsonValue, depth: number = SCHEMA_DEPTH): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((member) => plainNumbers(member, depth - 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      OPAQUE.has(name) ? member : plainNumbers(member, depth - 1),
    ]),
  );
}

/** Levels that the schemas describe. */
const SCHEMA_DEPTH = 4;

import { schemaPredicate } from '@svc/jsonl-v23/internal';
import { ExactNumber, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
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
    const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, verbose: true });
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
export function checkSchema(config: JsonObject, problems: ConfigProblems): void {
  const { shape, providers } = validators();
  validate(shape, config, [], problems);
  const provider = config['provider'];
  if (!isJsonObject(provider)) return;
  const type = provider['type'];
  const validateProvider =
    typeof type === 'string' && Object.hasOwn(PROVIDER_SCHEMAS, type) ? providers[type] : undefined;
  if (validateProvider !== undefined) validate(validateProvider, provider, ['provider'], problems);
  else {
    problems.add(`must be one of ${Object.keys(PROVIDER_SCHEMAS).join(', ')}`, ['provider', 'type']);
  }
}

function validate(
  isValid: ValidateFunction,
  value: JsonObject,
  steps: Steps,
  problems: ConfigProblems,
): void {
  if (isValid(plainNumbers(value))) return;
  for (const error of isValid.errors ?? []) {
    if (problems.isFull) return;
    const inside = error.instancePath
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const member = error.params['missingProperty'] ?? error.params['additionalProperty'];
    problems.add(schemaPredicate(error), [
      ...steps,
      ...inside,
      ...(member === undefined ? [] : [String(member)]),
    ]);
  }
}

/** Levels that the schemas describe; below them, in `params`, any value is allowed. */
const SCHEMA_DEPTH = 4;

/** The validator takes an {@link ExactNumber} for an object; for the schemas, a double is close enough. */
function plainNumbers(value: JsonValue, depth: number = SCHEMA_DEPTH): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((member) => plainNumbers(member, depth - 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, plainNumbers(member, depth - 1)]),
  );
}

import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type ConfigProblems, MAX_NAME_CHARS } from './config-problems.ts';
import { membersOf } from './members-of.ts';

/** Names whose values are secrets, in lower case and without `-` and `_`. */
const SECRET_NAME =
  /^(?:(?:proxy)?authorization|x?apikey|(?:access|auth|bearer|refresh|hub|api|session)?token|password|passwd|passphrase|(?:client)?secret|secretkey|privatekey|credentials?)$/;
/** Names of members that carry secrets in any form. */
const SECRET_CARRIER = /^(?:(?:extra|default)?headers|(?:set)?cookies?)$/;
/** Members of a JSON Schema that name properties and definitions, which hold no secret. */
const SCHEMA_NAMES: ReadonlySet<string | number> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired'],
  ...['$defs', 'definitions'],
]);
/** Headers that a model may have, each of which is searched. */
const ALLOWED_HEADERS = /^(?:provider|(?:(?:added_)?scorers\/\d+\/)?judge)\/extra_headers$/;

/**
 * Adds a problem for each member whose name says that it holds a secret.
 *
 * @param steps location of the value; changed during the search
 */
export function findSecrets(
  value: JsonValue,
  problems: ConfigProblems,
  steps: (string | number)[] = [],
): void {
  for (const [name, member] of membersOf(value)) {
    if (problems.isFull) return;
    steps.push(name);
    const isNamed = typeof name === 'string' && isSecret(name, member);
    if (isNamed && !isOfSchema(steps, member) && !ALLOWED_HEADERS.test(steps.join('/'))) {
      problems.add(
        'must not be sent: set keys as environment variables of the workers (`api_key_env`)',
        steps,
      );
    } else findSecrets(member, problems, steps);
    steps.pop();
  }
}

/** Whether the member at `steps` is a property or a definition of a JSON Schema. */
function isOfSchema(steps: readonly (string | number)[], member: JsonValue): boolean {
  const holdsNames = SCHEMA_NAMES.has(steps.at(-2) ?? '');
  return holdsNames && (isJsonObject(member) || Array.isArray(member) || typeof member === 'boolean');
}

function isSecret(name: string, member: JsonValue): boolean {
  if (name.length > MAX_NAME_CHARS) return false;
  const plainName = name.toLowerCase().replace(/[-_]/g, '');
  return SECRET_CARRIER.test(plainName) || (SECRET_NAME.test(plainName) && !isJsonObject(member));
}

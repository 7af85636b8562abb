import { ExactNumber, isJsonObject, type JsonObject, type JsonValue, jsonPointer } from '@svc/jsonl-v23/json';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type RunConfigProblem, RunError } from '../run-error.ts';
import { isForbiddenAddress } from './is-forbidden-address.ts';
import { JUDGE_SCHEMA, PROVIDER_SCHEMAS, RUN_CONFIG_SHAPE } from './run-config-schema.ts';

/** A model behind the chat-completions protocol. */
export interface ModelConfig {
  /** without a slash at its end */
  readonly baseUrl: string;
  readonly model: string;
  readonly params: JsonObject;
  /** name of the environment variable that holds the key; null for a server that wants none */
  readonly apiKeyEnv: string | null;
}

export type ProviderConfig =
  | ({ readonly type: 'openai_compatible' } & ModelConfig)
  | { readonly type: 'item_field'; readonly pointer: string }
  | { readonly type: 'echo' };

/** A valid configuration of a run. It holds no secret: keys stay with the workers. */
export interface RunConfig {
  readonly provider: ProviderConfig;
  readonly judge: (ModelConfig & { readonly threshold: number }) | null;
  readonly repetitions: number;
  readonly concurrency: number;
  readonly maxRetries: number;
  readonly timeoutMs: number;
}

/** What a request body may set of itself, and what it may not: the service sets these. */
const RESERVED_PARAMS: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'stream_options', 'n']);

/** Characters of one text or name in `params`. */
const MAX_PARAM_TEXT_CHARS = 16_384;
/** Problems that an error lists; further ones are not looked for, since a body of 1 MiB can hold very many. */
const MAX_LISTED_PROBLEMS = 100;

/** Names whose values are secrets, in lower case and without `-` and `_`. */
const SECRET_NAME =
  /^(?:(?:proxy)?authorization|x?apikey|(?:access|auth|bearer|refresh|hub|api|session)?token|password|passwd|passphrase|(?:client)?secret|secretkey|privatekey|credentials?)$/;
/**
 * Names of what carries secrets whatever its form; the schema of a tool may well have a property `password`.
 */
const SECRET_CARRIER = /^(?:(?:extra|default)?headers|(?:set)?cookies?)$/;

/**
 * Checks the configuration of a run as it came in a request, and gives it with its defaults. `provider` may
 * be written short, as the name of its type with its members beside it. Null stands for absent in every
 * optional member. A member that is a key, token, password or header, anywhere, is refused: the body of a
 * request is no place for secrets.
 *
 * @param value parsed JSON
 * @param path JSON Pointer of the value in the request body, for the errors
 * @throws RunError `invalid_request` with every problem and its place; no message repeats a value that may be
 * a secret
 *
 * @example
 * parseRunConfig({ provider: { type: 'openai_compatible', base_url: 'https://host/v1', model: 'm' }, repetitions: 3 });
 */
export function parseRunConfig(value: JsonValue, path = '/config'): RunConfig {
  return parse(value, path, MAX_PARAM_TEXT_CHARS);
}

/**
 * Reads the configuration of a run that is stored. As {@link parseRunConfig}, but for limits that came after it.
 *
 * @throws RunError `invalid_request`
 */
export function parseStoredRunConfig(value: JsonValue): RunConfig {
  return parse(value, '/config', Number.POSITIVE_INFINITY);
}

function parse(value: JsonValue, path: string, maxTextChars: number): RunConfig {
  // By place: a secret is named once, as a secret, and not once more as an unknown member.
  const problems = new Map<string, RunConfigProblem>();
  const report: Report = (message, at) => {
    if (problems.size === MAX_LISTED_PROBLEMS) return false;
    const location = `${path}${jsonPointer(at.map(shortened))}`;
    if (!problems.has(location)) problems.set(location, { message, path: location });
    return problems.size < MAX_LISTED_PROBLEMS;
  };
  if (!isJsonObject(value)) {
    report('must be an object', []);
    throw invalid([...problems.values()]);
  }
  if (!reportSecrets(value, [], report)) throw invalid([...problems.values()]);

  const config = withProviderObject(withoutNulls(value));
  collect(validators().shape, config, [], report);
  const provider = config['provider'];
  const type = isJsonObject(provider) ? provider['type'] : undefined;
  if (isJsonObject(provider)) {
    const validate =
      typeof type === 'string' && Object.hasOwn(PROVIDER_SCHEMAS, type)
        ? validators().providers[type]
        : undefined;
    if (validate !== undefined) collect(validate, provider, ['provider'], report);
    else report(`must be one of ${Object.keys(PROVIDER_SCHEMAS).join(', ')}`, ['provider', 'type']);
    checkModel(provider, ['provider'], report);
    checkTexts(provider['params'], ['provider', 'params'], maxTextChars, report);
  }
  const judge = config['judge'];
  if (isJsonObject(judge)) {
    checkModel(judge, ['judge'], report);
    checkTexts(judge['params'], ['judge', 'params'], maxTextChars, report);
  }
  if (problems.size > 0) throw invalid([...problems.values()]);
  return toRunConfig(config);
}

/**
 * The configuration as it is stored, shown and exported: all members, defaults too. It can be parsed again.
 */
export function runConfigToJson(config: RunConfig): JsonObject {
  const { provider, judge } = config;
  return {
    provider:
      provider.type === 'openai_compatible'
        ? { type: provider.type, ...modelToJson(provider) }
        : { ...provider },
    ...(judge === null ? {} : { judge: { ...modelToJson(judge), threshold: judge.threshold } }),
    repetitions: config.repetitions,
    concurrency: config.concurrency,
    max_retries: config.maxRetries,
    timeout_ms: config.timeoutMs,
  };
}

function modelToJson(model: ModelConfig): JsonObject {
  return {
    base_url: model.baseUrl,
    model: model.model,
    params: model.params,
    ...(model.apiKeyEnv === null ? {} : { api_key_env: model.apiKeyEnv }),
  };
}

function toRunConfig(config: JsonObject): RunConfig {
  const number = (name: string, fallback: number): number =>
    typeof config[name] === 'number' ? config[name] : fallback;
  const provider = config['provider'] as JsonObject;
  const judge = config['judge'] as JsonObject | undefined;
  const threshold = judge?.['threshold'];
  return {
    provider: toProvider(provider),
    judge:
      judge === undefined
        ? null
        : { ...toModel(judge), threshold: typeof threshold === 'number' ? threshold : 0.5 },
    repetitions: number('repetitions', 1),
    concurrency: number('concurrency', 8),
    maxRetries: number('max_retries', 5),
    timeoutMs: number('timeout_ms', 120_000),
  };
}

function toProvider(provider: JsonObject): ProviderConfig {
  switch (provider['type']) {
    case 'echo':
      return { type: 'echo' };
    case 'item_field':
      return { type: 'item_field', pointer: provider['pointer'] as string };
    default:
      return { type: 'openai_compatible', ...toModel(provider) };
  }
}

function toModel(model: JsonObject): ModelConfig {
  return {
    baseUrl: (model['base_url'] as string).replace(/(?<!\/)\/+$/, ''),
    model: model['model'] as string,
    params: (model['params'] as JsonObject | undefined) ?? {},
    apiKeyEnv: (model['api_key_env'] as string | undefined) ?? null,
  };
}

/** Adds a problem; false when there are so many that further ones are not kept. */
type Report = (message: string, at: readonly (string | number)[]) => boolean;

/** Longer names are cut where they are repeated. */
const MAX_NAME_CHARS = 256;

const shortened = (name: string | number): string | number =>
  typeof name === 'string' && name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;

/** What a schema cannot say of a model. */
function checkModel(model: JsonObject, at: readonly string[], report: Report): void {
  const url = model['base_url'];
  if (typeof url === 'string' && /^https?:\/\//.test(url)) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed === undefined) report('is not a URL', [...at, 'base_url']);
    else if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') {
      report('must have no user-info, query or fragment', [...at, 'base_url']);
    } else if (isForbiddenAddress(parsed.hostname)) {
      report('must not be a link-local address or a metadata service', [...at, 'base_url']);
    }
  }
  const params = model['params'];
  if (!isJsonObject(params)) return;
  for (const name of Object.keys(params)) {
    if (RESERVED_PARAMS.has(name)) report('is set by the service', [...at, 'params', name]);
  }
}

/**
 * Refuses texts and names of `params` that are longer than a setting of a model can be; false when there are too many.
 *
 * @param at the place of the value, changed while its members are looked at
 */
function checkTexts(
  value: JsonValue | undefined,
  at: (string | number)[],
  maxChars: number,
  report: Report,
): boolean {
  if (typeof value === 'string') {
    return (
      value.length <= maxChars || report(`must have at most ${maxChars} characters, got ${value.length}`, at)
    );
  }
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return true;
  for (const [name, member] of membersOf(value)) {
    const isTooLong = typeof name === 'string' && name.length > maxChars;
    at.push(name);
    const goOn = isTooLong || checkTexts(member, at, maxChars, report);
    at.pop();
    if (!goOn || (isTooLong && !report(`must have names of at most ${maxChars} characters`, at)))
      return false;
  }
  return true;
}

/**
 * Reports the members whose name says that they hold a secret; false when there are too many.
 *
 * @param at the place of the value, changed while its members are looked at
 */
function reportSecrets(value: JsonValue, at: (string | number)[], report: Report): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return true;
  for (const [name, member] of membersOf(value)) {
    at.push(name);
    const goOn =
      typeof name === 'string' && isSecret(name, member)
        ? report('must not be sent: a key stays in an environment variable of the workers (api_key_env)', at)
        : reportSecrets(member, at, report);
    at.pop();
    if (!goOn) return false;
  }
  return true;
}

const membersOf = (value: JsonObject | readonly JsonValue[]): Iterable<[string | number, JsonValue]> =>
  Array.isArray(value) ? value.entries() : Object.entries(value);

function isSecret(name: string, member: JsonValue): boolean {
  if (name.length > MAX_NAME_CHARS) return false;
  const plainName = name.toLowerCase().replace(/[-_]/g, '');
  return SECRET_CARRIER.test(plainName) || (SECRET_NAME.test(plainName) && !isJsonObject(member));
}

function withProviderObject(config: JsonObject): JsonObject {
  const type = config['provider'];
  if (typeof type !== 'string') return config;
  const schema = Object.hasOwn(PROVIDER_SCHEMAS, type)
    ? PROVIDER_SCHEMAS[type as keyof typeof PROVIDER_SCHEMAS]
    : undefined;
  const names = Object.keys((schema?.['properties'] as object | undefined) ?? {});
  const entries = Object.entries(config);
  const isOfProvider = (name: string): boolean => name !== 'type' && names.includes(name);
  return {
    ...Object.fromEntries(entries.filter(([name]) => name !== 'provider' && !isOfProvider(name))),
    provider: { type, ...Object.fromEntries(entries.filter(([name]) => isOfProvider(name))) },
  };
}

/**
 * Leaves null members out of the configuration and of its parts, but not out of `params`, where null may mean
 * something.
 */
function withoutNulls(config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, name !== 'params' && isJsonObject(value) ? withoutNulls(value) : value]),
  );
}

interface Validators {
  readonly shape: ValidateFunction;
  readonly providers: Readonly<Record<string, ValidateFunction>>;
}

let compiled: Validators | undefined;

/** Compiled when the first run is asked for. */
function validators(): Validators {
  if (compiled === undefined) {
    const ajv = new Ajv2020({ allErrors: true });
    compiled = {
      shape: ajv.compile({
        ...RUN_CONFIG_SHAPE,
        properties: { ...(RUN_CONFIG_SHAPE['properties'] as object), judge: JUDGE_SCHEMA },
      }),
      providers: Object.fromEntries(
        Object.entries(PROVIDER_SCHEMAS).map(([type, schema]) => [type, ajv.compile(schema)]),
      ),
    };
  }
  return compiled;
}

function collect(validate: ValidateFunction, value: JsonObject, at: readonly string[], report: Report): void {
  if (validate(plainNumbers(value))) return;
  for (const error of validate.errors ?? []) {
    const inside = error.instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const location = [...at, ...inside];
    const member = error.params['missingProperty'] ?? error.params['additionalProperty'];
    const goOn = report(sentence(error), member === undefined ? location : [...location, String(member)]);
    if (!goOn) return;
  }
}

function sentence(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return 'is not known';
    case 'type':
      return `must be of type ${String(error.params['type'])}`;
    case 'pattern':
      return error.instancePath.endsWith('/api_key_env')
        ? 'must be the name of an environment variable that holds a key: SVC_PROVIDER_<NAME>, not ending in _ORIGINS, and never a key itself'
        : 'does not have the form that is asked for';
    default:
      return error.message ?? 'is not valid';
  }
}

/** Levels that the schemas look into; below them (in `params`) a value may be anything. */
const SCHEMA_DEPTH = 3;

/**
 * The validator takes an {@link ExactNumber} for an object; to it, such a number is just one far out of every
 * range.
 */
function plainNumbers(value: JsonValue, depth = SCHEMA_DEPTH): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((member) => plainNumbers(member, depth - 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, plainNumbers(member, depth - 1)]),
  );
}

function invalid(errors: readonly RunConfigProblem[]): RunError {
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new RunError(
    'invalid_request',
    `The run's configuration is not valid: ${first?.path} ${first?.message}${more}`,
    { errors },
  );
}

import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { checkModel, checkPrompts, SECRET } from './check-model.ts';
import { checkSchema } from './check-schema.ts';
import { ConfigProblems, MAX_NAME_CHARS, membersOf, type Steps } from './config-problems.ts';
import { type JudgeConfig, judgesOf, type Price, type RunConfig, scorersOf } from './run-config.ts';
import { PROVIDER_SCHEMAS } from './run-config-schema.ts';

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
function findSecrets(value: JsonValue, problems: ConfigProblems, steps: (string | number)[] = []): void {
  for (const [name, member] of membersOf(value)) {
    if (problems.isFull) return;
    steps.push(name);
    const isNamed = typeof name === 'string' && isSecret(name, member);
    if (isNamed && !isOfSchema(steps, member) && !ALLOWED_HEADERS.test(steps.join('/'))) {
      problems.add(SECRET, steps);
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

/** Characters of one prompt, and of one text or name in `params`. */
const MAX_PARAM_TEXT_CHARS = 16_384;

/**
 * Parses the run configuration of a request and adds the defaults. `provider` may be the name of its type, with its
 * members next to it. Null means absent in every optional member. A member that is a key, token, password or header is
 * an error anywhere: a request body is the wrong place for secrets.
 *
 * @throws RunError `invalid_request` with each problem and its location. No message repeats a value that may be a
 * secret.
 */
export function parseRunConfig(value: JsonValue, path = '/config'): RunConfig {
  return parse(value, path, MAX_PARAM_TEXT_CHARS);
}

/** Parses a stored run configuration: like {@link parseRunConfig}, without the limits of newer releases. */
export function parseStoredRunConfig(value: JsonValue): RunConfig {
  return parse(value, '/config', Number.POSITIVE_INFINITY);
}

/**
 * Parses what scores the outputs of a run again, and puts it into the configuration of that run. The checker applies to
 * every item, and the judge replaces the run's judge. Both replace the run's scorers, also the added ones, as other
 * scorers do. Without any of them, the run's own scoring applies again. Its cost limit holds for the new run too, unless
 * the request states another.
 *
 * @throws RunError `invalid_request`
 */
export function parseRescore(request: JsonObject, source: RunConfig): RunConfig {
  const { checker = null, judge = null, scorers = null } = request;
  const stated = { judge, scorers, ...(checker !== null && { checker, checker_mode: 'override' }) };
  const { max_cost: maxCost = null } = request;
  const { price } = source;
  const limit = maxCost === null ? {} : { max_cost: maxCost, ...(price && { price: { ...price } }) };
  const asked = { provider: 'echo', ...stated, ...limit };
  const { provider: _, ...scoring } = parse(asked, '', MAX_PARAM_TEXT_CHARS);
  // `reuse` is not about outputs that exist already.
  const { reuse: _reuse, max_cost: before, ...others } = source;
  const kept = request['max_cost'] === undefined ? before : scoring.max_cost;
  const whole: RunConfig = { ...others, ...(kept && { max_cost: kept }) };
  if (checker === null && judge === null && scorers === null) return whole;
  const { added_scorers: _added, ...scored } = whole;
  const { scorers: _scorers, checker: _checker, checker_mode: _mode, judge: _judge, ...unscored } = scored;
  const config: RunConfig = {
    ...(scoring.scorers === undefined && source.scorers === undefined ? scored : unscored),
    ...(scoring.scorers && { scorers: scoring.scorers }),
    ...(scoring.judge && { judge: scoring.judge }),
    ...(scoring.checker !== undefined && { checker: scoring.checker, checker_mode: 'override' }),
  };
  checkPrices(config, new ConfigProblems(''));
  return config;
}

/**
 * Parses scorers that are added to a run. Scorers that its configuration already has, in the same words, stay as they
 * are: such a request continues an earlier one.
 *
 * @throws RunError `invalid_request`
 */
export function parseAddedScorers(scorers: JsonValue, source: RunConfig) {
  const stated = parse({ provider: 'echo', scorers }, '', MAX_PARAM_TEXT_CHARS).scorers ?? [];
  const { scorers: first = [], added_scorers: before = [] } = source;
  const same = new Set([...first, ...before].map((one) => canonicalJson(one as unknown as JsonObject)));
  const others = stated.filter((one) => !same.has(canonicalJson(one as unknown as JsonObject)));
  const known = scorersOf(source).map(({ name }) => name);
  const names = stated.map(({ name }) => name).filter((name) => name !== known[0]);
  const added = [...before, ...others];
  const config = added.length === 0 ? source : { ...source, added_scorers: added };
  checkPrices(config, new ConfigProblems(''));
  return {
    config,
    names,
    /** The name of another scorer that the configuration has; null without one. */
    taken:
      others.find(({ name }) => known.includes(name))?.name ??
      (names.length === 0 ? (known[0] ?? null) : null),
  };
}

function parse(value: JsonValue, path: string, maxTextChars: number): RunConfig {
  const problems = new ConfigProblems(path);
  if (!isJsonObject(value)) {
    problems.add('must be an object');
    throw problems.toError();
  }
  // First, so that a secret is reported as a secret and not as an unknown member of the same location.
  findSecrets(value, problems);
  if (problems.isFull) throw problems.toError();
  const config = normalizeConfig(value);
  const checked = checkSchema(config, problems);
  const { provider } = config;
  if (isJsonObject(provider)) checkModel(provider, ['provider'], maxTextChars, problems);
  for (const [judge, at] of judgesAt(config)) checkModel(judge, at, maxTextChars, problems);
  checkPrompts(config, maxTextChars, problems);
  if (!problems.isEmpty) throw problems.toError();
  const parsed = checked as unknown as RunConfig;
  for (const model of [parsed.provider, ...judgesOf(parsed)]) {
    if ('base_url' in model) model.base_url = model.base_url.replace(/(?<!\/)\/+$/, '');
  }
  checkPrices(parsed, problems);
  return parsed;
}

const SCORERS = ['scorers', 'added_scorers'];

function* judgesAt(config: JsonObject): Generator<[JsonObject, Steps]> {
  if (isJsonObject(config['judge'])) yield [config['judge'], ['judge']];
  for (const member of SCORERS) {
    const scorers = config[member];
    for (const [index, scorer] of (Array.isArray(scorers) ? scorers : []).entries()) {
      const judge = isJsonObject(scorer) ? scorer['judge'] : undefined;
      if (isJsonObject(judge)) yield [judge, [member, index, 'judge']];
    }
  }
}

/**
 * The cost of a run is one amount, which a limit can hold only if all prices are known.
 *
 * @throws RunError `invalid_request`
 */
function checkPrices(config: RunConfig, problems: ConfigProblems): void {
  const prices: [Price | undefined, Steps][] = [[config.price, ['price']]];
  for (const [judge, at] of judgesAt(config as unknown as JsonObject)) {
    prices.push([(judge as unknown as JudgeConfig).price, [...at, 'price']]);
  }
  const stated = prices.flatMap(([price, at]) => (price === undefined ? [] : [{ ...price, at }]));
  const [first, ...others] = stated;
  for (const { currency, at } of others) {
    if (currency === first?.currency) continue;
    problems.add(`must be ${first?.currency}, the currency of \`${first?.at.join('.')}\``, [
      ...at,
      'currency',
    ]);
  }
  if (config.max_cost !== undefined) {
    if (config.price === undefined) problems.add('needs `price`', ['max_cost']);
    for (const [price, at] of prices.slice(1)) {
      if (price === undefined) problems.add('must be set with `max_cost`', at);
    }
  }
  if (!problems.isEmpty) throw problems.toError();
}

/** The configuration in its long form: `provider` is an object, and optional members are absent instead of null or empty. */
function normalizeConfig(config: JsonObject): JsonObject {
  const { select, ...others } = withProviderObject(withoutNulls(config));
  const selectsAll = select === undefined || (isJsonObject(select) && Object.keys(select).length === 0);
  return selectsAll ? others : { ...others, select };
}

/** Moves the provider's members into `provider` if that is only the name of its type. */
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

/** Members in which null may have a meaning. */
const KEPT: ReadonlySet<string> = new Set(['params', 'checker']);

function withoutNulls(config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => {
        if (KEPT.has(name)) return [name, value];
        if (isJsonObject(value)) return [name, withoutNulls(value)];
        const isScorers = SCORERS.includes(name) && Array.isArray(value);
        return [name, isScorers ? value.map((one) => (isJsonObject(one) ? withoutNulls(one) : one)) : value];
      }),
  );
}

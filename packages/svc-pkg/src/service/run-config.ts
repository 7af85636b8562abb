import {
  isJsonObject,
  JsonlError,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import type { Cli } from '../cli-context.ts';
import { ServiceError, usageError } from '../errors/cli-error.ts';
import { readText } from '../package/input-file.ts';

interface RunConfigOptions {
  readonly config?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly set?: readonly string[];
  readonly reuse?: string;
  readonly maxCost?: number;
}

/** The configuration of a run: the file, then the options, which go before it. */
export async function readRunConfig(cli: Cli, options: RunConfigOptions): Promise<JsonObject> {
  const config =
    options.config === undefined ? {} : parseConfig(await readText(cli, options.config), options.config);
  if (options.model !== undefined || options.baseUrl !== undefined) {
    setPath(config, ['provider', 'type'], 'openai_compatible');
    if (options.model !== undefined) setPath(config, ['provider', 'model'], options.model);
    if (options.baseUrl !== undefined) setPath(config, ['provider', 'base_url'], options.baseUrl);
  }
  for (const entry of options.set ?? []) {
    const at = entry.indexOf('=');
    if (at < 1) throw usageError(`--set must be <member>=<value>, got ${JSON.stringify(entry)}`);
    setPath(config, entry.slice(0, at).split('.'), parseValue(entry.slice(at + 1)));
  }
  if (options.reuse !== undefined) setPath(config, ['reuse'], { run_id: options.reuse });
  if (options.maxCost !== undefined) setPath(config, ['max_cost'], { amount: options.maxCost });
  return config;
}

/** The file of a configuration that no other option sets a member of. */
export function configFile(options: RunConfigOptions): string | undefined {
  const { config, model, baseUrl, set, reuse, maxCost } = options;
  const others = [model, baseUrl, set, reuse, maxCost];
  return others.every((option) => option === undefined) ? config : undefined;
}

function parseConfig(text: string, file: string): JsonObject {
  const rule = '--config must be a JSON object';
  const value = parseGiven(text, { rule, file });
  if (isJsonObject(value)) return value;
  throw usageError(rule, { location: { file } });
}

/** Reads the JSON text of a file. @param rule what it must be @throws CliError `usage` */
export function parseGiven(text: string, { rule, file }: { rule: string; file: string }): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    throw usageError(`${rule}: ${error.message}`, { location: { ...error.location, file } });
  }
}

/** A value of the command line: JSON, or else a text. */
export function parseValue(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function setPath(object: JsonObject, path: readonly string[], value: JsonValue): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) {
    setMember(object, key, value);
    return;
  }
  const present = Object.hasOwn(object, key) ? object[key] : undefined;
  const inner: JsonObject = isJsonObject(present) ? present : {};
  setMember(object, key, inner);
  setPath(inner, rest, value);
}

/** Members of a configuration that another option or a usual value of `--set` sets. */
const OPTIONS: Readonly<Record<string, string>> = {
  provider: '--set provider.type=...',
  'provider.model': '--model',
  'provider.base_url': '--base-url',
  checker: '--set checker.type=...',
  judge: '--set judge.model=...',
  reuse: '--reuse',
  'reuse.run_id': '--reuse',
  max_cost: '--max-cost',
  'max_cost.amount': '--max-cost',
  price: '--set price.input_per_million=...',
  allow_unscored: '--set allow_unscored=true',
};

/** A location such as `/config/provider/model`, or a member such as `config.checker`. */
const MEMBER = /(?<![\w/])(?:\/config\/([\w/-]+)|config\.([a-z_]+(?:\.[a-z_]+)*))/g;

/** Errors of the request name members of the configuration file, or the options of this command line. */
export async function withConfigOptions<T>(request: Promise<T>, file: string | undefined): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const named = file === undefined ? optionsIn : membersIn;
    const errors = error.details.errors.map((entry) => ({
      ...entry,
      message: named(entry.message),
      ...(file !== undefined && entry.path?.startsWith('/config/') && { file, path: membersIn(entry.path) }),
    }));
    throw new ServiceError(error.code, named(error.message), { ...error.details, errors });
  }
}

const membersIn = (message: string): string =>
  message.replaceAll(MEMBER, (_, location: string | undefined, member: string | undefined) =>
    location === undefined ? (member ?? '') : `/${location}`,
  );

function optionsIn(message: string): string {
  return message
    .replaceAll(/\bSet (?=config\.)/g, 'Use ')
    .replaceAll(MEMBER, (_, location: string | undefined, member: string | undefined) => {
      const name = location?.replaceAll('/', '.') ?? member ?? '';
      return OPTIONS[name] ?? `--set ${name}`;
    });
}

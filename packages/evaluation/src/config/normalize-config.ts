import { isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { PROVIDER_SCHEMAS } from './run-config-schema.ts';

/** The configuration in its long form: `provider` is an object, and optional members are absent instead of null or empty. */
export function normalizeConfig(config: JsonObject): JsonObject {
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

/** Omits null members, except in {@link KEPT} ones. */
function withoutNulls(config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => {
        if (KEPT.has(name)) return [name, value];
        if (isJsonObject(value)) return [name, withoutNulls(value)];
        const isScorers = ['scorers', 'added_scorers'].includes(name) && Array.isArray(value);
        return [name, isScorers ? value.map((one) => (isJsonObject(one) ? withoutNulls(one) : one)) : value];
      }),
  );
}

import type { Paths } from '@svc/client';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import type { Cli } from '../cli-context.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { parseGiven, parseValue } from './run-config.ts';
import { repeatLost, type ServiceClient } from './service-client.ts';

/** Reads the body of an edit: `{edits}` with or without a message, or a list of edits. @throws CliError `usage` */
export function parseEdits(text: string, file: string): JsonObject {
  const value = parseGiven(text, { rule: 'The edits must be JSON', file });
  if (Array.isArray(value)) return { edits: value };
  if (isJsonObject(value)) return value;
  throw usageError('The edits must be a JSON list, or an object with the member edits', {
    location: { file },
  });
}

export async function findItem(
  service: ServiceClient,
  datasetId: string,
  wanted: JsonValue,
  section: string | undefined,
) {
  const query = {
    item_id: typeof wanted === 'string' ? wanted : canonicalJson(wanted),
    // The service takes its own links.
    assets: 'link',
  } as const;
  const params = {
    path: { id: datasetId },
    query: { ...query, limit: 100, ...(section !== undefined && { section }) },
  };
  const { text } = await service.read(service.api.GET('/datasets/{id}/items', { params }));
  const page = parseJson(text) as unknown as { readonly data: readonly JsonObject[] };
  const found = page.data.filter(({ item }) => isJsonObject(item) && idsMatch(item['id'], wanted));
  const [only] = found;
  if (only === undefined) throw new CliError('item_not_found', `No item has the id ${canonicalJson(wanted)}`);
  if (found.length > 1)
    throw new CliError(
      'item_ambiguous',
      `Several items have the id ${canonicalJson(wanted)}; name their section, or use their hashes in a file`,
    );
  return {
    item: only['item'] as JsonObject,
    itemHash: String(only['item_hash']),
    section: String(only['section']),
  };
}

const idsMatch = (id: JsonValue | undefined, wanted: JsonValue): boolean =>
  id !== undefined && canonicalJson(id) === canonicalJson(wanted);

/** A value of an item to set: `/pointer=value`; the value is JSON, or else a text. @throws CliError `usage` */
export function parseSetting(entry: string): readonly [pointer: string, value: JsonValue] {
  const at = entry.indexOf('=');
  if (at >= 2 && entry.startsWith('/')) return [entry.slice(0, at), parseValue(entry.slice(at + 1))];
  throw usageError(`--set must be /<pointer>=<value>, got ${JSON.stringify(entry)}`);
}

/** Sets a value of an item in place. @param pointer RFC 6901 @throws CliError `usage` */
function setPointer(item: JsonObject, pointer: string, value: JsonValue): void {
  const path = pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = path.pop() ?? '';
  let target: JsonValue = item;
  for (const key of path) {
    const inner: JsonValue | undefined = memberOf(target, key);
    if (inner === undefined) throw usageError(`The item has nothing at ${pointer}`);
    target = inner;
  }
  if (isJsonObject(target)) setMember(target, last, value);
  else if (Array.isArray(target) && memberOf(target, last) !== undefined) target[Number(last)] = value;
  else throw usageError(`The item has nothing at ${pointer}`);
}

/** Names the item by its hash, so that the edit fails if the item has changed since. @throws CliError `usage` */
export function editOf(
  { item, itemHash, section }: Awaited<ReturnType<typeof findItem>>,
  values: Iterable<readonly [pointer: string, value: JsonValue]>,
): JsonObject {
  for (const [pointer, value] of values) setPointer(item, pointer, value);
  return { item_hash: itemHash, section, item };
}

type BodyOfEdit = Paths['/datasets/{id}/items']['patch']['requestBody']['content']['application/json'];

/** Requests that say what edits would do, or do it, again after a lost connection. */
export function editsOf(
  service: ServiceClient,
  { datasetId, headers = {} }: { readonly datasetId: string; readonly headers?: Record<string, string> },
  edits: JsonObject,
) {
  const request = {
    params: { path: { id: datasetId } },
    body: edits as unknown as BodyOfEdit,
    bodySerializer: canonicalJson,
    fetch: service.slowFetch,
  };
  return {
    check: () => service.read(service.api.PATCH('/datasets/{id}/items/check', { ...request, headers })),
    send: (cli: Cli) =>
      repeatLost(cli, (key) => {
        const keyed = { ...request, headers: { ...headers, 'Idempotency-Key': key } };
        return service.read(service.api.PATCH('/datasets/{id}/items', keyed));
      }),
  };
}

function memberOf(value: JsonValue, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,8})$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

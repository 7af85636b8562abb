import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/**
 * An edited item whose files are links, with the files themselves in their place: the service takes no links.
 *
 * @param linked the item before the edit, with links
 * @param embedded the same with files
 */
export function withFiles(edited: JsonObject, linked: JsonObject, embedded: JsonObject): JsonObject {
  const files = new Map<string, JsonValue>();
  collect(linked, embedded, files);
  return files.size === 0 ? edited : (replaced(edited, files) as JsonObject);
}

function collect(linked: JsonValue, embedded: JsonValue | undefined, files: Map<string, JsonValue>): void {
  if (embedded === undefined) return;
  if (Array.isArray(linked)) {
    for (const [at, one] of linked.entries())
      collect(one, Array.isArray(embedded) ? embedded[at] : undefined, files);
  } else if (isJsonObject(linked)) {
    if (!isJsonObject(embedded)) return;
    if (isLink(linked) && !isLink(embedded)) files.set(canonicalJson(linked), embedded);
    else for (const [name, one] of Object.entries(linked)) collect(one, getMember(embedded, name), files);
  }
}

function replaced(value: JsonValue, files: ReadonlyMap<string, JsonValue>): JsonValue {
  if (Array.isArray(value)) return value.map((one) => replaced(one, files));
  if (!isJsonObject(value)) return value;
  if (isLink(value)) return files.get(canonicalJson(value)) ?? value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, files)]));
}

const isLink = (value: JsonObject): boolean =>
  typeof getMember(value, 'sha256') === 'string' && typeof getMember(value, 'url') === 'string';

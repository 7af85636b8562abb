import { Badge } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { plainText } from './text/pretty-json.ts';

const LABELS: Readonly<Record<string, string>> = { hub: 'hub', pkg_zip: 'package', file: 'file' };

type Schema = Readonly<Record<string, unknown>>;

/** Where a dataset came from, in a word. */
export function sourceName(schema: Schema): string {
  const source = plainText(getMember(schema as JsonObject, 'source'), 20);
  return LABELS[source] ?? (source || 'unknown');
}

/** The last files that are named. */
const MAX_NAMED_FILES = 3;

/** What the items of a version come from: the repository and its commit, and the files. */
export function sourceDetails(schema: Schema): string {
  const { config, files } = schema;
  const path = isJsonObject(config as JsonValue | undefined)
    ? getMember(config as JsonObject, 'path')
    : undefined;
  const revision = path === undefined ? undefined : getMember(config as JsonObject, 'resolved_revision');
  const names = (Array.isArray(files) ? files : []).map((file: JsonValue) =>
    plainText(isJsonObject(file) ? getMember(file, 'name') : undefined, 100),
  );
  const more = names.length - MAX_NAMED_FILES;
  return [
    ...(path === undefined ? [] : [plainText(path, 200)]),
    ...(revision === undefined ? [] : [`commit ${plainText(revision, 12)}`]),
    ...names.slice(-MAX_NAMED_FILES),
    ...(more > 0 ? [`${more} more ${more === 1 ? 'file' : 'files'}`] : []),
  ].join(', ');
}

/** Where a dataset came from. */
export function SourceBadge({ schema }: { readonly schema: Schema }) {
  return (
    <Badge size="sm" variant="default">
      {sourceName(schema)}
    </Badge>
  );
}

import { Badge } from '@mantine/core';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { plainText } from './text/pretty-json.ts';

const LABELS: Readonly<Record<string, string>> = { hub: 'hub', pkg_zip: 'package', file: 'file' };

type Schema = Readonly<Record<string, unknown>>;

/** Where a dataset came from, in a word. */
export function sourceName(schema: Schema): string {
  const source = plainText(getMember(schema as JsonObject, 'source'), 20);
  return LABELS[source] ?? (source || 'unknown');
}

/** Where a dataset came from. */
export function SourceBadge({ schema }: { readonly schema: Schema }) {
  return (
    <Badge size="sm" variant="default">
      {sourceName(schema)}
    </Badge>
  );
}

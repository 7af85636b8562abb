import { Badge } from '@mantine/core';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { plainText } from './text/pretty-json.ts';

const LABELS: Readonly<Record<string, string>> = { hub: 'hub', pkg_zip: 'package', file: 'file' };

/** Where a dataset came from. */
export function SourceBadge({ schema }: { readonly schema: Readonly<Record<string, unknown>> }) {
  const source = plainText(getMember(schema as JsonObject, 'source'), 20);
  return (
    <Badge size="sm" variant="default" tt="none">
      {LABELS[source] ?? (source || 'unknown')}
    </Badge>
  );
}

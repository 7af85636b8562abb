import { Stack } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { NameValues } from '../ui/layout/name-values.tsx';
import { Part } from '../ui/layout/part.tsx';
import { sourceName } from '../ui/source-badge.tsx';
import { formatTime } from '../ui/text/formats.ts';
import { JsonText } from '../ui/text/json-text.tsx';
import { plainText } from '../ui/text/pretty-json.ts';
import type { Dataset } from './items/item-windows.ts';

/** `trust_remote_code` as `Trust remote code`. */
const inWords = (name: string): string =>
  (name.slice(0, 1).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

/** Where a dataset came from: its source, and the whole schema. */
export default function ProvenanceTab({ dataset }: { readonly dataset: Dataset }) {
  const schema = dataset.schema as JsonObject;
  const config = getMember(schema, 'config');
  const facts: readonly (readonly [string, string])[] = [
    ['Source', sourceName(schema)],
    ...(isJsonObject(config)
      ? Object.entries(config)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => [inWords(name), plainText(value, 400)] as const)
      : []),
    ['Version hash', dataset.version_hash],
    ['Added', formatTime(dataset.created_at)],
    ['Changed', formatTime(dataset.updated_at)],
  ];
  return (
    <Stack>
      <NameValues rows={facts} variant="vertical" />
      {dataset.notes !== null && (
        <Part title="Notes">
          <pre className="pre">{dataset.notes}</pre>
        </Part>
      )}
      <details>
        <summary>All of it, as JSON</summary>
        <JsonText value={schema} label="schema" />
      </details>
    </Stack>
  );
}

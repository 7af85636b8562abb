import { Text } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { NameValues } from '../../ui/layout/name-values.tsx';
import { plainText, prettyJson } from '../../ui/text/pretty-json.ts';

/** The members of an object as a table of names and values. */
export function Members({ value }: { readonly value: JsonObject }) {
  return (
    <NameValues
      variant="vertical"
      rows={Object.entries(value).map(([name, one]) => [name, <Plain key={name} value={one} />] as const)}
    />
  );
}

function Plain({ value }: { readonly value: JsonValue }) {
  return typeof value === 'string' ? (
    <Text size="sm" dir="auto" className="break lines">
      {value}
    </Text>
  ) : (
    <pre className="pre">{prettyJson(value)}</pre>
  );
}

/** The tools that a model may call, each with its declaration. */
export function Tools({ tools }: { readonly tools: readonly JsonValue[] }) {
  return tools.map((tool, index) => {
    const named = isJsonObject(tool) ? (getMember(tool, 'function') ?? tool) : tool;
    const name = isJsonObject(named) ? plainText(getMember(named, 'name'), 200) : '';
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: tools have an order, and names that may be the same
      <details key={index}>
        <summary>{name || `Tool ${index + 1}`}</summary>
        <pre className="pre">{prettyJson(tool)}</pre>
      </details>
    );
  });
}

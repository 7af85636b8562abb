import { Badge, Box, Group } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { NameValues } from '../../ui/layout/name-values.tsx';
import { Part } from '../../ui/layout/page.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { plainText, prettyJson } from '../../ui/text/formats.ts';
import { Plain, RichText, Value } from '../../ui/text/rich-text.tsx';
import { FileView } from './asset-list.tsx';
import type { Message, MessagePart, ToolCall } from './item-reading.ts';

export function Messages({ messages }: { readonly messages: readonly Message[] }) {
  const names = new Map(
    messages.flatMap(({ calls, parts }) =>
      [...calls, ...parts.flatMap((part) => (part.kind === 'call' ? [part.call] : []))].map(
        ({ id, name }) => [id, name] as const,
      ),
    ),
  );
  return messages.map((message, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a conversation has an order and nothing else
    <Box key={index} className="message" data-role={message.role}>
      <Part order={3} title={titleOf(message, names)}>
        {message.parts.map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: so have the parts of a message
          <PartView key={at} part={part} label={`message ${index + 1}`} />
        ))}
        {message.calls.map((call, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: nor need calls have ids, or each its own
          <CallView key={at} call={call} />
        ))}
        {message.parts.length === 0 && message.calls.length === 0 && <Dimmed>no content</Dimmed>}
        {Object.keys(message.rest).length > 0 && <pre className="pre">{prettyJson(message.rest)}</pre>}
      </Part>
    </Box>
  ));
}

function titleOf({ role, resultOf }: Message, names: ReadonlyMap<string, string>): string {
  const title = role || 'message';
  if (resultOf === undefined) return title;
  return `${title}: result of ${names.get(resultOf) ?? 'a call'} (${resultOf})`;
}

function PartView({ part, label }: { readonly part: MessagePart; readonly label: string }) {
  switch (part.kind) {
    case 'text':
      return <RichText text={part.text} />;
    case 'file':
      return <FileView url={part.url} type={part.type} name={label} />;
    case 'call':
      return <CallView call={part.call} />;
    default:
      return <pre className="pre">{prettyJson(part.value)}</pre>;
  }
}

function CallView({ call: { id, name, arguments: stated } }: { readonly call: ToolCall }) {
  return (
    <Box component="section" className="framed" mt={6} aria-label={`Call of ${name}`}>
      <Group gap={6} mb={4}>
        <Badge size="sm" variant="light" color="grape">
          {name}
        </Badge>
        <Dimmed span size="xs" ff="monospace">
          {id}
        </Dimmed>
      </Group>
      <pre className="pre">{argumentsText(stated)}</pre>
    </Box>
  );
}

/** Arguments are JSON text; where they are not, they are shown as they are. */
function argumentsText(stated: JsonValue): string {
  if (typeof stated !== 'string') return prettyJson(stated);
  try {
    const value = parseJson(stated);
    return isJsonObject(value) ? prettyJson(value) : stated;
  } catch {
    return stated;
  }
}

export function Members({ value }: { readonly value: JsonObject }) {
  return (
    <NameValues
      variant="vertical"
      rows={Object.entries(value).map(([name, one]) => [
        name,
        typeof one === 'string' ? <Plain key={name} text={one} /> : <Value key={name} value={one} />,
      ])}
    />
  );
}

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

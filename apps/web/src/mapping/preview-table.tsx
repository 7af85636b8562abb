import { Badge, Table, Text } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { plainText } from '../ui/text/pretty-json.ts';

const MAX_CELL = 200;

/** The first rows of a table with the types of its columns; images are shown. */
export function PreviewTable({
  features,
  samples,
}: {
  readonly features: readonly { readonly name: string; readonly dtype: string }[];
  readonly samples: readonly JsonObject[];
}) {
  return (
    <section className="scroll-x preview-table" aria-label="First rows" tabIndex={0}>
      <Table withColumnBorders stickyHeader>
        <Table.Thead>
          <Table.Tr>
            {features.map(({ name, dtype }) => (
              <Table.Th key={name}>
                {name}{' '}
                <Badge size="xs" variant="default" tt="none">
                  {dtype}
                </Badge>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {samples.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have a number and nothing else
            <Table.Tr key={index}>
              {features.map(({ name }) => (
                <Table.Td key={name} className="preview-cell">
                  <Cell value={getMember(row, name)} name={name} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Cell({ value, name }: { readonly value: JsonValue | undefined; readonly name: string }) {
  if (value === null || value === undefined)
    return (
      <Text span size="xs" c="dimmed">
        null
      </Text>
    );
  const image = imageOf(value);
  if (image !== undefined) return <img className="preview-image" src={image} alt={name} />;
  const text = plainText(value, MAX_CELL + 1);
  return (
    <Text size="xs" className="break" lineClamp={4} ff={typeof value === 'string' ? undefined : 'monospace'}>
      {text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text}
    </Text>
  );
}

/** The address of an image whose bytes are in the cell. */
function imageOf(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const type = getMember(value, 'mime_type');
  const data = getMember(value, 'data');
  if (typeof type !== 'string' || typeof data !== 'string' || !/^image\/[a-z.+-]+$/.test(type))
    return undefined;
  return `data:${type};base64,${data}`;
}

import { Badge, Text } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { Columns } from '../ui/layout/columns.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
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
    <Columns
      label="First rows"
      maxHeight={240}
      withTableBorder
      withColumnBorders
      columns={features.map(({ name, dtype }) => ({
        header: name,
        note: (
          <Badge size="xs" variant="default">
            {dtype}
          </Badge>
        ),
        minWidth: 120,
        maxWidth: 320,
        wraps: true,
        cell: (row: JsonObject) => <Cell value={getMember(row, name)} name={name} />,
      }))}
      rows={samples}
      keyOf={(_, index) => index}
    />
  );
}

function Cell({ value, name }: { readonly value: JsonValue | undefined; readonly name: string }) {
  if (value === null || value === undefined)
    return (
      <Dimmed span size="xs">
        null
      </Dimmed>
    );
  const image = imageOf(value);
  if (image !== undefined) return <img className="preview-image" src={image} alt={name} />;
  return (
    <Text size="xs" lineClamp={4} ff={typeof value === 'string' ? undefined : 'monospace'}>
      {plainText(value, MAX_CELL)}
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

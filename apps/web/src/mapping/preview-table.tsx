import { Badge, Text } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { imageAddressOfCell, RemoteImage, ShowImages } from '../ui/remote-images.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import { Note } from '../ui/text/dimmed.ts';
import { plainText } from '../ui/text/formats.ts';
import type { PreviewedTable } from './suggest-mapping.ts';

const MAX_CELL = 200;

type Column = PreviewedTable['features'][number];

/** The first rows of a table with the types of its columns. It shows images; a click shows images of other hosts. */
export function PreviewTable({
  features,
  samples,
}: {
  readonly features: readonly Column[];
  readonly samples: readonly JsonObject[];
}) {
  const addresses = features.flatMap((column) =>
    samples.flatMap((row) => imageAddressOfCell(getMember(row, column.name) ?? null, column) ?? []),
  );
  return (
    <>
      <ShowImages addresses={addresses} />
      <DataTable
        label="First rows"
        maxHeight={240}
        columns={features.map((column) => ({
          label: column.name || '(no name)',
          note: (
            <Badge size="xs" variant="default" ms={6}>
              {column.dtype}
            </Badge>
          ),
          size: 160,
          share: 1,
          wraps: true,
          cell: (row: JsonObject) => <Cell value={getMember(row, column.name)} column={column} />,
        }))}
        rows={samples}
        isTall
        keyOf={(_, index) => String(index)}
      />
    </>
  );
}

function Cell({ value, column }: { readonly value: JsonValue | undefined; readonly column: Column }) {
  if (value === null || value === undefined) return <Note>null</Note>;
  const image = imageOf(value);
  if (image !== undefined) return <img className="preview-image" src={image} alt={column.name} />;
  return (
    <RemoteImage address={imageAddressOfCell(value, column)} alt={column.name} className="preview-image">
      <Text size="xs" lineClamp={4} ff={typeof value === 'string' ? undefined : 'monospace'}>
        {plainText(value, MAX_CELL)}
      </Text>
    </RemoteImage>
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

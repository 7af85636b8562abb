import {
  ActionIcon,
  Alert,
  Badge,
  Card,
  Checkbox,
  Grid,
  Group,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type ReactNode, useState } from 'react';
import { ItemViewer } from '../datasets/items/item-viewer.tsx';
import { More } from '../ui/form/fields.tsx';
import { Icon } from '../ui/icons.tsx';
import { textIn } from '../ui/pointer-of.ts';
import { ErrorView } from '../ui/query-state.tsx';
import { imageAddressOfCell, RemoteImage, ShowImages } from '../ui/remote-images.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import { Dimmed, Note } from '../ui/text/dimmed.ts';
import { formatCountOf, plainText } from '../ui/text/formats.ts';
import { MappingField } from './mapping-field.tsx';
import { MAPPING_FIELDS, type MappingField as MappingKey } from './mapping-fields.ts';
import type { PreviewedTable, useMappingDraft } from './suggest-mapping.ts';

export function MappingPanes(props: {
  readonly preview: PreviewedTable;
  readonly mapping: ReturnType<typeof useMappingDraft>;
  /** The first rows as items; undefined until they are there. */
  readonly items: readonly object[] | undefined;
  readonly error: unknown;
  readonly children?: ReactNode;
}) {
  const { items, error, children } = props;
  const { features, samples, info } = props.preview;
  const { draft, setDraft, reasons, others, keepsOthers, setKeepsOthers, settled } = props.mapping;
  // a field stays where it is while it is edited
  const [suggested] = useState(draft);
  const isCommon = ({ key, isRare }: MappingKey): boolean => !isRare || (suggested[key] ?? null) !== null;
  const fieldsOf = (fields: readonly MappingKey[]) => (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
      {fields.map((field) => (
        <MappingField
          key={field.key}
          field={field}
          columns={features.map(({ name }) => name)}
          value={draft[field.key]}
          reason={reasons[field.key]}
          isRequired={field.key === 'prompt_column' && !draft.prompt_template}
          onChange={(value) => setDraft({ ...draft, [field.key]: value })}
        />
      ))}
    </SimpleGrid>
  );
  return (
    <>
      <Warnings info={info} />
      <PreviewTable features={features} samples={samples as readonly JsonObject[]} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="sm">
            <Title order={2} size="h5">
              Columns
            </Title>
            <Stack gap="xs" role="group" aria-label="Mapping">
              {fieldsOf(MAPPING_FIELDS.filter(isCommon))}
              <More what="fields">{fieldsOf(MAPPING_FIELDS.filter((field) => !isCommon(field)))}</More>
            </Stack>
            {others.length > 0 && (
              <Checkbox
                label={`Keep ${formatCountOf(others.length, 'other column')} as metadata`}
                description={others.join(', ')}
                checked={keepsOthers}
                onChange={(event) => setKeepsOthers(event.currentTarget.checked)}
              />
            )}
            {children}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Title order={2} size="h5" mb="xs">
            Items
          </Title>
          {error !== null && <ErrorView error={error} />}
          <ItemPreview rows={settled === null ? [] : ((items ?? []) as readonly JsonObject[])} />
        </Grid.Col>
      </Grid>
    </>
  );
}

function Warnings({ info }: { readonly info: PreviewedTable['info'] }) {
  const { warnings } = info as { readonly warnings?: unknown };
  if (!Array.isArray(warnings) || warnings.length === 0) return null;
  return (
    <Alert color="yellow" title="Before you import">
      {warnings.slice(0, 10).map((warning) => (
        <Text key={String(warning)} size="sm" className="break">
          {typeof warning === 'string' ? warning : JSON.stringify(warning)}
        </Text>
      ))}
    </Alert>
  );
}

export function ItemPreview({ rows }: { readonly rows: readonly JsonObject[] }) {
  const [at, setAt] = useState(0);
  const index = Math.min(at, rows.length - 1);
  const row = rows[index];
  if (row === undefined) return <Dimmed>The items appear here as soon as the prompt is mapped.</Dimmed>;
  const item = getMember(row, 'item');
  const error = getMember(row, 'error');
  const message = isJsonObject(error) ? getMember(error, 'message') : error;
  return (
    <Card component="section" aria-label="Item preview" withBorder padding={0} aria-live="polite">
      <Group justify="space-between" px="md" pt="xs">
        <Dimmed size="xs">
          Item {index + 1} of {rows.length}
        </Dimmed>
        <Group gap={4}>
          {([-1, 1] as const).map((by) => (
            <ActionIcon
              key={by}
              variant="default"
              size="sm"
              aria-label={by === 1 ? 'Next row' : 'Previous row'}
              disabled={rows[index + by] === undefined}
              onClick={() => setAt(index + by)}
            >
              {by === 1 ? <Icon name="chevronRight" size={14} /> : <Icon name="chevronLeft" size={14} />}
            </ActionIcon>
          ))}
        </Group>
      </Group>
      {isJsonObject(item) ? (
        <ItemViewer item={item} />
      ) : (
        <Alert color="red" m="md">
          {plainText(message ?? 'This row cannot become an item.', 1000)}
        </Alert>
      )}
    </Card>
  );
}

const MAX_CELL = 200;

type Column = PreviewedTable['features'][number];

/** The first rows of a table with the types of its columns. It shows images; a click shows images of other hosts. */
function PreviewTable(props: {
  readonly features: readonly Column[];
  readonly samples: readonly JsonObject[];
}) {
  const { features, samples } = props;
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

function imageOf(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [type = '', data] = [textIn(value, 'mime_type'), textIn(value, 'data')];
  return data !== undefined && /^image\/[a-z.+-]+$/.test(type) ? `data:${type};base64,${data}` : undefined;
}

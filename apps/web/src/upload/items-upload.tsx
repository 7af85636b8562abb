import { Alert, Grid, List, Loader, Stack, Table, Text, Title } from '@mantine/core';
import { type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { ItemPreview } from '../mapping/item-preview.tsx';
import { placeOf } from '../ui/error-view.tsx';
import { CopyText } from '../ui/text/copy-text.tsx';
import { formatCount } from '../ui/text/formats.ts';
import type { Inspection } from './inspect-types.ts';
import { SendForm } from './send-form.tsx';

/** A package or a file of items: what the browser found in it, and the upload. */
export function ItemsUpload({
  files,
  inspection,
}: {
  readonly files: readonly File[];
  readonly inspection: Inspection;
}) {
  if (inspection.state === 'reading')
    return (
      <Text role="status">
        <Loader size="xs" mr="xs" />
        Reading: {formatCount(inspection.items)} items so far
      </Text>
    );
  const { errors, errorsTotal, sections, items, versionHash, first } = inspection;
  const isSingle = files.length === 1;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          {errors.length > 0 && (
            <Alert color="red" variant="light" title="The service would refuse this file" role="alert">
              <List size="sm">
                {errors.map((error) => (
                  <List.Item key={`${placeOf(error)} ${error.message}`}>
                    <Text span size="sm" ff="monospace">
                      {placeOf(error)}
                    </Text>{' '}
                    <span className="break">{error.message}</span>
                  </List.Item>
                ))}
              </List>
              {errorsTotal > errors.length && <Text size="sm">and {errorsTotal - errors.length} more</Text>}
            </Alert>
          )}
          {isSingle && (
            <Table w="auto">
              <Table.Tbody>
                <Table.Tr>
                  <Table.Th>Items</Table.Th>
                  <Table.Td>{formatCount(items)}</Table.Td>
                </Table.Tr>
                {sections.length > 0 && (
                  <Table.Tr>
                    <Table.Th>Sections</Table.Th>
                    <Table.Td className="break">
                      {sections
                        .slice(0, 20)
                        .map(({ name, items: count }) => `${name} (${formatCount(count)})`)
                        .join(', ')}
                      {sections.length > 20 && ` and ${sections.length - 20} more`}
                    </Table.Td>
                  </Table.Tr>
                )}
                {versionHash !== null && (
                  <Table.Tr>
                    <Table.Th>Version hash</Table.Th>
                    <Table.Td>
                      <CopyText text={versionHash} shown={versionHash.slice(0, 16)} label="version hash" />
                    </Table.Td>
                  </Table.Tr>
                )}
              </Table.Tbody>
            </Table>
          )}
          <SendForm files={files} expectedHash={isSingle ? versionHash : null} isReady />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Title order={2} size="h5" mb="xs">
          First items
        </Title>
        <ItemPreview rows={first.map((text, row): JsonObject => ({ row, item: parseJson(text) }))} />
      </Grid.Col>
    </Grid>
  );
}

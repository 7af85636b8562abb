import { Alert, Grid, List, Loader, Stack, Text, Title } from '@mantine/core';
import { type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { ItemPreview } from '../mapping/mapping-panes.tsx';
import { locationOf } from '../ui/error-view.tsx';
import { NameValues } from '../ui/layout/name-values.tsx';
import { CopyText } from '../ui/text/copy-action.tsx';
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
                  <List.Item key={`${locationOf(error)} ${error.message}`}>
                    <Text span size="sm" ff="monospace">
                      {locationOf(error)}
                    </Text>{' '}
                    <span className="break">{error.message}</span>
                  </List.Item>
                ))}
              </List>
              {errorsTotal > errors.length && <Text size="sm">and {errorsTotal - errors.length} more</Text>}
            </Alert>
          )}
          {isSingle && versionHash !== null && (
            <NameValues
              rows={[
                ['Items', formatCount(items)],
                ['Sections', sectionsText(sections)],
                ['Version hash', <CopyText key="hash" text={versionHash} length={16} label="version hash" />],
              ]}
            />
          )}
          <SendForm
            files={files}
            expectedHash={isSingle ? versionHash : null}
            isRefused={errors.length > 0}
          />
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

const MAX_SECTIONS = 20;

/** Names of sections with their counts; of many, the first ones. */
function sectionsText(sections: Extract<Inspection, { readonly state: 'read' }>['sections']): string {
  const names = sections.slice(0, MAX_SECTIONS).map(({ name, items }) => `${name} (${formatCount(items)})`);
  const others = sections.length - names.length;
  return `${names.join(', ')}${others === 0 ? '' : ` and ${others} more`}`;
}

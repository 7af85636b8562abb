import { ActionIcon, Alert, Card, Group } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { useState } from 'react';
import { ItemViewer } from '../datasets/items/item-viewer.tsx';
import { IconChevronLeft, IconChevronRight } from '../ui/icons.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { plainText } from '../ui/text/pretty-json.ts';

/** The first rows as the items that an import would store, one at a time. */
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
          <ActionIcon
            variant="default"
            size="sm"
            aria-label="Previous row"
            disabled={index === 0}
            onClick={() => setAt(index - 1)}
          >
            <IconChevronLeft size={14} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            size="sm"
            aria-label="Next row"
            disabled={index >= rows.length - 1}
            onClick={() => setAt(index + 1)}
          >
            <IconChevronRight size={14} />
          </ActionIcon>
        </Group>
      </Group>
      {isJsonObject(item) ? (
        <ItemViewer item={item} />
      ) : (
        <Alert color="red" variant="light" m="md">
          {plainText(message ?? 'This row cannot become an item.', 1000)}
        </Alert>
      )}
    </Card>
  );
}

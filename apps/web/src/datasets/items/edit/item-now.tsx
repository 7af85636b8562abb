import { Alert, Text } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { JsonText } from '../../../ui/text/json-text.tsx';
import type { ListedItem } from '../item-windows.ts';

/** Says beside what is typed that the item has been changed or removed, and shows it as it is now. */
export function ItemNow({ now }: { readonly now: ListedItem | null }) {
  return now === null ? (
    <Alert color="orange" variant="light" role="alert" title="The item is not here any more">
      <Text size="sm">
        It was changed or removed in the meantime. What you typed cannot be saved as a change of it, but stays
        here to be copied.
      </Text>
    </Alert>
  ) : (
    <Alert color="orange" variant="light" role="alert" title="The item itself was changed in the meantime">
      <Text size="sm" mb="xs">
        What you typed stays. Saving it replaces the item, which is now:
      </Text>
      <JsonText value={now.item as JsonValue} label="the item as it is now" />
    </Alert>
  );
}

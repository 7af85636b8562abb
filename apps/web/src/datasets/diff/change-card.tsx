import { Badge, Card, Group, SimpleGrid, Stack, Title } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import type { ResponseOf } from '@svc/client';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { Part } from '../../ui/layout/page.tsx';
import { stepsOf } from '../../ui/pointer-of.ts';
import { ErrorView, PageSkeleton } from '../../ui/query-state.tsx';
import { DiffedText } from '../../ui/text/diffed-text.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { plainText, textOrJson } from '../../ui/text/formats.ts';
import { questionOf } from '../items/item-reading.ts';
import { ItemViewer } from '../items/item-viewer.tsx';
import type { VersionOf } from '../items/item-windows.ts';
import { itemQuery } from '../queries.ts';

type Difference = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>['data'][number];
type Changed = Extract<Difference, { readonly change: 'changed' }>;
type Placed = Exclude<Difference, Changed>;

const COLORS = { added: 'teal', removed: 'red', changed: 'brand' } as const;

/** A difference: of a changed item the members side by side, of others the item itself. */
export function ChangeCard({
  difference,
  from,
  to,
}: {
  readonly difference: Difference;
  readonly from: VersionOf;
  readonly to: VersionOf;
}) {
  if (difference.change !== 'changed')
    return <PlacedCard difference={difference} of={difference.to === null ? from : to} />;
  return (
    <Card component="li" withBorder padding="sm">
      <Heading
        difference={difference}
        title={plainText(difference.item_id as JsonValue) || `item ${difference.order_index}`}
      />
      <Stack gap="sm">
        {difference.fields.map((field) => (
          <ChangedField key={field.pointer} field={field} />
        ))}
      </Stack>
    </Card>
  );
}

function Heading({ difference, title }: { readonly difference: Difference; readonly title: string }) {
  return (
    <Group gap="sm" mb={6}>
      <Badge size="sm" variant="dot" color={COLORS[difference.change]}>
        {difference.change}
      </Badge>
      <Title order={2} size="h6" dir="auto" className="break" lineClamp={2}>
        {title}
      </Title>
      <Dimmed size="xs">{placeText(difference)}</Dimmed>
    </Group>
  );
}

function ChangedField({ field }: { readonly field: Changed['fields'][number] }) {
  const { pointer, truncated = false } = field;
  const [before, after] = [field.from, field.to].map((value) =>
    value === undefined ? undefined : textOrJson(value as JsonValue),
  );
  return (
    <Part order={3} title={nameOf(pointer) + (truncated ? ' (shortened)' : '')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {[
          { side: 'removed', text: before, label: 'before' },
          { side: 'added', text: after, label: 'after' },
        ].map(({ side, text, label }) => (
          <section key={label} className="framed" aria-label={`${nameOf(pointer)} ${label}`}>
            {text === undefined ? (
              <Dimmed>absent</Dimmed>
            ) : (
              <DiffedText
                text={text}
                before={before ?? ''}
                after={after ?? ''}
                side={side as 'added' | 'removed'}
              />
            )}
          </section>
        ))}
      </SimpleGrid>
    </Part>
  );
}

/** An item that is only on one side: read when it is in view. */
function PlacedCard({ difference, of }: { readonly difference: Placed; readonly of: VersionOf }) {
  const { ref, inViewport } = useInViewport();
  const { item_hash } = difference;
  const found = useQuery({ ...itemQuery(of, item_hash), enabled: inViewport });
  const item = found.data?.item;
  return (
    <Card component="li" ref={ref} withBorder padding="sm">
      <Heading
        difference={difference}
        title={(item != null && questionOf(item as JsonObject)) || item_hash.slice(0, 12)}
      />
      <details>
        <summary>Item</summary>
        {found.error !== null && <ErrorView error={found.error} />}
        {found.isLoading && <PageSkeleton rows={2} />}
        {item != null && <ItemViewer item={item as JsonObject} datasetId={of.id} />}
      </details>
    </Card>
  );
}

/** Where a difference is, which tells it from others of its kind. */
export function placeText(difference: Difference): string {
  if (difference.change === 'changed') {
    const { section, order_index, other_order_index } = difference;
    return order_index === other_order_index
      ? `${section} ${order_index}`
      : `${section} ${order_index} → ${other_order_index}`;
  }
  return [difference.from, difference.to]
    .flatMap((place) => (place === null ? [] : [`${place.section} ${place.order_index}`]))
    .join(' → ');
}

/** The path of a member in words. */
const nameOf = (pointer: string): string => (pointer === '' ? 'whole item' : stepsOf(pointer).join(' › '));

import { Badge, Card, Group, SegmentedControl, SimpleGrid, Stack, Title } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import type { ResponseOf } from '@svc/client';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import { Part } from '../../ui/layout/page.tsx';
import { BY_CURSOR, MoreButton } from '../../ui/layout/pager.tsx';
import { stepsOf } from '../../ui/pointer-of.ts';
import { ErrorView, isShown, PageSkeleton, QueryState } from '../../ui/query-state.tsx';
import { DiffedText } from '../../ui/text/diffed-text.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount, plainText, textOrJson } from '../../ui/text/formats.ts';
import { DatasetSelect, VersionSelect } from '../choose-dataset.tsx';
import { CHANGES, datasetRoute, useChangeDataset } from '../dataset-search.ts';
import { questionOf } from '../items/item-reading.ts';
import { ItemViewer } from '../items/item-viewer.tsx';
import type { Dataset, VersionOf } from '../items/item-windows.ts';
import { datasetQuery, itemQuery } from '../queries.ts';

type Diff = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>;

const PAGE = 50;

export default function DiffTab({ dataset }: { readonly dataset: Dataset }) {
  const { other, to } = datasetRoute.useSearch();
  const navigate = datasetRoute.useNavigate();
  const change = useChangeDataset();
  const found = useQuery(datasetQuery(other ?? null, to));
  const chosen = found.data;
  return (
    <Stack>
      <Group align="flex-end">
        <DatasetSelect
          label="Other dataset"
          placeholder="Choose a dataset"
          w={480}
          maw="100%"
          value={other ?? null}
          without={dataset.id}
          onChange={(value) =>
            void navigate({
              resetScroll: false,
              search: ({ version }) => ({ version, tab: 'diff', other: value ?? undefined }),
            })
          }
        />
        <VersionSelect
          label="Its version"
          id={other ?? null}
          value={to ?? null}
          onChange={(value) => change({ to: value ?? undefined })}
        />
      </Group>
      {other !== undefined && <QueryState query={found} />}
      {chosen !== undefined && <DiffView from={dataset} to={chosen} />}
    </Stack>
  );
}

export function DiffView({ from, to }: { readonly from: VersionOf; readonly to: VersionOf }) {
  const { only } = datasetRoute.useSearch();
  const change = useChangeDataset();
  const pair = [from, to].map(({ id, version }) => `${id} ${version}`).join();
  const found = useInfiniteQuery({
    queryKey: ['diff', pair, only],
    queryFn: ({ signal, pageParam: cursor }) => {
      const versions = { version: String(from.version), other_version: String(to.version) };
      const path = { id: from.id, other_id: to.id };
      const query = { ...versions, only, limit: PAGE, cursor };
      return get('/datasets/{id}/diff/{other_id}', { path, query }, signal);
    },
    ...BY_CURSOR,
    placeholderData: (before, query) => (query?.queryKey[1] === pair ? before : undefined),
  });
  if (!isShown(found)) return <QueryState query={found} />;
  const first = found.data.pages[0];
  const counts = first?.counts;
  const differences = found.data.pages.flatMap(({ data }) => data);
  return (
    <Stack gap="sm">
      {counts !== undefined && (
        <SegmentedControl
          className="wrapping"
          w="fit-content"
          size="xs"
          aria-label="Kind of difference"
          value={only ?? 'all'}
          onChange={(value) => change({ only: CHANGES.find((one) => one === value) })}
          data={[
            { value: 'all', label: `All (${formatCount(totalOf(counts))})` },
            ...CHANGES.map((kind) => ({ value: kind, label: `${kind} (${formatCount(counts[kind])})` })),
          ]}
        />
      )}
      <Dimmed role="status">{first !== undefined && summaryOf(first)}</Dimmed>
      <Stack component="ul" className="plain-list" gap="sm" aria-label="Differences">
        {differences.map((difference) => (
          <ChangeCard
            key={`${difference.change} ${placeText(difference)}`}
            difference={difference}
            from={from}
            to={to}
          />
        ))}
      </Stack>
      <MoreButton query={found}>More differences</MoreButton>
    </Stack>
  );
}

const totalOf = (counts: Diff['counts']): number => CHANGES.reduce((sum, kind) => sum + counts[kind], 0);

function summaryOf({ counts, sections }: Diff): string {
  const same = `${formatCount(counts.unchanged)} ${counts.unchanged === 1 ? 'item is' : 'items are'} the same`;
  const orders = sections.filter(({ order_changed }) => order_changed).map(({ name }) => name);
  return [
    totalOf(counts) === 0 ? `No item differs: ${same}.` : `${same}.`,
    ...(orders.length > 0 ? [`The order has changed in ${orders.join(', ')}.`] : []),
  ].join(' ');
}

type Difference = ResponseOf<'/datasets/{id}/diff/{other_id}', 'get'>['data'][number];
type Changed = Extract<Difference, { readonly change: 'changed' }>;
type Placed = Exclude<Difference, Changed>;

const COLORS = { added: 'teal', removed: 'red', changed: 'brand' } as const;

function ChangeCard(props: {
  readonly difference: Difference;
  readonly from: VersionOf;
  readonly to: VersionOf;
}) {
  const { difference, from, to } = props;
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

function placeText(difference: Difference): string {
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

const nameOf = (pointer: string): string => (pointer === '' ? 'whole item' : stepsOf(pointer).join(' › '));

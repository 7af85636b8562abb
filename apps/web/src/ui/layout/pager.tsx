import { Button, type ButtonProps, Group } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SmallButton } from '../buttons.tsx';
import { Icon } from '../icons.tsx';
import { QueryState } from '../query-state.tsx';
import { DataTable } from '../table/data-table.tsx';
import { Dimmed } from '../text/dimmed.ts';
import { formatCountOf } from '../text/formats.ts';
import type { Window } from '../use-windows.ts';

/** A table of a list of the API, and its pages by their cursors. Going back is going back in the history of the browser. */
export function PagedTable<Row extends { readonly id: string }>(
  props: Pick<Parameters<typeof DataTable<Row>>[0], 'columns' | 'view' | 'onView' | 'onOpen' | 'empty'> & {
    readonly query: UseQueryResult<Window<Row>>;
    readonly what: string;
  },
) {
  const { query, what, ...table } = props;
  const { history } = useRouter();
  const navigate = useNavigate();
  const isFirst = useSearch({ strict: false }).cursor === undefined;
  const go = (cursor: string | undefined): void =>
    void navigate({ to: '.', search: ((before: object) => ({ ...before, cursor })) as never });
  if (query.data === undefined) return <QueryState query={query} />;
  const { data: rows, meta } = query.data;
  const next = meta.next_cursor;
  return (
    <>
      <QueryState query={query} />
      <DataTable label={`Table of ${what}s`} rows={rows} keyOf={({ id }) => id} isTall fills {...table} />
      <Group justify="space-between" component="nav" aria-label={`Pages of ${what}s`}>
        <Dimmed>{formatCountOf(meta.total_items, what)}</Dimmed>
        {(!isFirst || next !== null) && (
          <Group gap="xs">
            <SmallButton label="Newest" variant="subtle" disabled={isFirst} onClick={() => go(undefined)} />
            <BackAndNext
              onBack={isFirst ? undefined : () => history.back()}
              onNext={next === null ? undefined : () => go(next)}
            />
          </Group>
        )}
      </Group>
    </>
  );
}

export const BackAndNext = ({
  onBack,
  onNext,
}: Readonly<Record<'onBack' | 'onNext', (() => void) | undefined>>) => (
  <>
    <SmallButton
      label="Back"
      disabled={onBack === undefined}
      onClick={onBack}
      leftSection={<Icon name="chevronLeft" size={14} />}
    />
    <SmallButton
      label="Next"
      disabled={onNext === undefined}
      onClick={onNext}
      rightSection={<Icon name="chevronRight" size={14} />}
    />
  </>
);

export function MoreButton(
  props: Pick<ButtonProps, 'size'> & {
    readonly query: {
      readonly hasNextPage: boolean;
      readonly isFetchingNextPage: boolean;
      readonly fetchNextPage: () => Promise<unknown>;
    };
    readonly children: ReactNode;
  },
) {
  const { query, children, ...rest } = props;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  if (!hasNextPage) return null;
  return (
    <Button
      variant="default"
      w="fit-content"
      loading={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
      {...rest}
    >
      {children}
    </Button>
  );
}

/** What `useInfiniteQuery` needs to read the pages of a list of the API one after the other. */
export const BY_CURSOR = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ meta }: { readonly meta: { readonly next_cursor: string | null } }) =>
    meta.next_cursor ?? undefined,
};

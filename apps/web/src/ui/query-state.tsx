import { Alert, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { formatLocation } from '@svc/jsonl-v23/json';
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { ApiProblem, ConnectionLost, isRefusal, type Problem } from '../api/api.ts';
import { loadedAgain } from '../api/service-responds.ts';
import { useIsLost } from '../shell/connection-banner.tsx';
import { LinkButton, SmallButton } from './buttons.tsx';
import { Icon } from './icons.tsx';
import { CopyText } from './text/copy-action.tsx';
import { Dimmed } from './text/dimmed.ts';

/** The lists of what can be missing, by the code of its error. */
const LISTS: Readonly<Record<string, { readonly to: '/datasets' | '/runs'; readonly label: string }>> = {
  dataset_not_found: { to: '/datasets', label: 'All datasets' },
  run_not_found: { to: '/runs', label: 'All runs' },
};

/** An error with its title, detail, at most 20 places and the id of its request. */
export function ErrorView({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const problem = error instanceof ApiProblem ? error.problem : null;
  const list = LISTS[problem?.code ?? ''];
  // one error may be what the detail says already: then its file is what is new
  const errors = (problem?.errors ?? []).filter(
    (one, _, { length }) => length > 1 || one.message !== problem?.detail || one.file !== undefined,
  );
  return (
    <Alert
      color="red"
      title={problem?.title ?? 'Something went wrong'}
      icon={<Icon name="alertTriangle" size={18} />}
    >
      <Text size="sm" className="break">
        {problem?.detail ?? (error instanceof Error ? error.message : String(error))}
      </Text>
      <Places
        errors={errors.slice(0, MAX_PLACES)}
        total={problem?.errors_total ?? errors.length}
        known={problem?.detail}
      />
      {problem !== null && problem.request_id !== '' && (
        <Group gap={6} mt="xs">
          <Dimmed size="xs">{problem.code}, request</Dimmed>
          <CopyText text={problem.request_id} label="request id" />
        </Group>
      )}
      {(list !== undefined || onRetry !== undefined) && (
        <Group gap="xs" mt="sm">
          {list !== undefined && <LinkButton label={list.label} variant="default" to={list.to} />}
          {onRetry !== undefined && <SmallButton label="Try again" onClick={onRetry} />}
        </Group>
      )}
    </Alert>
  );
}

const MAX_PLACES = 20;

type Place = NonNullable<Problem['errors']>[number];

export function Places(props: {
  readonly errors: readonly Place[];
  readonly total: number;
  /** A message that is shown already. */
  readonly known?: string | undefined;
}) {
  const { errors, total, known } = props;
  if (errors.length === 0) return null;
  return (
    <>
      <List size="sm" mt="xs" spacing={2}>
        {errors.map((one) => (
          <List.Item key={`${one.file} ${one.line} ${one.row} ${one.path} ${one.message}`}>
            <Dimmed span ff="monospace">
              {formatLocation(one)}
            </Dimmed>{' '}
            {one.message !== known && (
              <Text span size="sm" className="break">
                {one.message}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
      {total > errors.length && <Text size="sm">and {total - errors.length} more</Text>}
    </>
  );
}

/** What a query shows in place of its data, or above data that could not be read again: a placeholder, or its error. */
export function QueryState(props: {
  readonly query: {
    readonly isPending: boolean;
    readonly data: unknown;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  readonly rows?: number;
}) {
  const { rows } = props;
  const { isPending, data, error, refetch } = props.query;
  // the banner says that, and the query is repeated when the service is back
  const isAwaited = useIsLost() && error instanceof ConnectionLost;
  if (isPending || (isAwaited && data === undefined)) return <PageSkeleton rows={rows} />;
  if (isAwaited) return null;
  return error === null ? null : <ErrorView error={error} onRetry={() => void refetch()} />;
}

/** Whether a page shows the data of a query: also where the connection was lost, or the session ended, since it was read. */
export function isShown<Q extends { readonly data: unknown; readonly error: Error | null }>(
  query: Q,
): query is Q & { readonly data: NonNullable<Q['data']> } {
  const { data, error } = query;
  const isSignedOut = isRefusal(error, 401);
  return data !== undefined && (error === null || error instanceof ConnectionLost || isSignedOut);
}

export function PageSkeleton({ rows = 6 }: { readonly rows?: number }) {
  return (
    <Stack gap="sm" p="md" aria-busy="true" aria-label="Loading" role="status">
      <Skeleton height={24} width="30%" />
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows of nothing have nothing else
        <Skeleton key={row} height={32} />
      ))}
    </Stack>
  );
}

/** A component whose code is loaded when it is first shown. Until then, something stands in its place. */
export function onDemand<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  standIn: (props: Props) => ReactNode = () => <PageSkeleton />,
): ComponentType<Props> {
  const Part = lazy(loadedAgain(load)) as unknown as ComponentType<Props>;
  return (props) => (
    <Suspense fallback={standIn(props)}>
      <Part {...props} />
    </Suspense>
  );
}

import { Alert, Group, List, Text } from '@mantine/core';
import { formatLocation } from '@svc/jsonl-v23/json';
import { Icon } from './icons.tsx';
import { LinkButton } from './layout/links.tsx';
import { SmallButton } from './small-button.tsx';
import { CopyText } from './text/copy-action.tsx';
import { Dimmed } from './text/dimmed.ts';
import { ApiProblem, type Problem } from '../api/api.ts';

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

/** Errors with their places, and how many more there are. */
export function Places({
  errors,
  total,
  known,
}: {
  readonly errors: readonly Place[];
  readonly total: number;
  /** A message that is shown already. */
  readonly known?: string | undefined;
}) {
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

import { Alert, Group, List, Text } from '@mantine/core';
import { ApiProblem, type Problem } from '../api/api-problem.ts';
import { IconAlertTriangle } from './icons.tsx';
import { LinkButton } from './layout/links.tsx';
import { SmallButton } from './small-button.tsx';
import { CopyText } from './text/copy-action.tsx';
import { Dimmed } from './text/dimmed.ts';

/** The lists of what can be missing, by the code of its error. */
const LISTS: Readonly<Record<string, { readonly to: '/datasets' | '/runs'; readonly label: string }>> = {
  dataset_not_found: { to: '/datasets', label: 'All datasets' },
  run_not_found: { to: '/runs', label: 'All runs' },
};

/** An error with its title, detail, places and the id of its request. */
export function ErrorView({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const problem = error instanceof ApiProblem ? error.problem : null;
  const title = problem?.title ?? 'Something went wrong';
  const list = LISTS[problem?.code ?? ''];
  return (
    <Alert color="red" variant="light" title={title} icon={<IconAlertTriangle size={18} />} role="alert">
      <ProblemDetails problem={problem} message={error instanceof Error ? error.message : String(error)} />
      {(list !== undefined || onRetry !== undefined) && (
        <Group gap="xs" mt="sm">
          {list !== undefined && (
            <LinkButton size="xs" variant="default" to={list.to}>
              {list.label}
            </LinkButton>
          )}
          {onRetry !== undefined && <SmallButton onClick={onRetry}>Try again</SmallButton>}
        </Group>
      )}
    </Alert>
  );
}

/** What a problem says: its detail, at most 20 places, and the id of its request. */
function ProblemDetails({
  problem,
  message,
}: {
  readonly problem: Problem | null;
  readonly message: string;
}) {
  // one error may be what the detail says already: then its file is what is new
  const errors = (problem?.errors ?? []).filter(
    (one, _, { length }) => length > 1 || one.message !== problem?.detail || one.file !== undefined,
  );
  const total = errors.length === 0 ? 0 : (problem?.errors_total ?? errors.length);
  return (
    <>
      <Text size="sm" className="break">
        {problem?.detail ?? message}
      </Text>
      {errors.length > 0 && (
        <List size="sm" mt="xs" spacing={2}>
          {errors.slice(0, 20).map((one) => (
            <List.Item key={`${one.file} ${one.line} ${one.row} ${one.path} ${one.message}`}>
              <Dimmed span ff="monospace">
                {locationOf(one)}
              </Dimmed>{' '}
              {one.message !== problem?.detail && (
                <Text span size="sm" className="break">
                  {one.message}
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      )}
      {total > 20 && <Text size="sm">and {total - Math.min(20, errors.length)} more</Text>}
      {problem !== null && problem.request_id !== '' && (
        <Group gap={6} mt="xs">
          <Dimmed size="xs">{problem.code}, request</Dimmed>
          <CopyText text={problem.request_id} label="request id" />
        </Group>
      )}
    </>
  );
}

/** Where an error is: `file:line:column`, a row, or a path into the request. */
export function locationOf(at: NonNullable<Problem['errors']>[number]): string {
  const line = at.line === undefined ? '' : `:${at.line}${at.column === undefined ? '' : `:${at.column}`}`;
  const parts = [
    at.file === undefined ? (line === '' ? '' : `line ${line.slice(1)}`) : `${at.file}${line}`,
    at.row === undefined ? '' : `row ${at.row}`,
    at.path ?? '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

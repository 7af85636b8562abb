import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { get } from '../../api/api.ts';
import { ApiProblem } from '../../api/api-problem.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { SmallButton } from '../../ui/small-button.tsx';
import { Age } from '../../ui/text/age.tsx';
import type { Dataset } from '../items/item-windows.ts';
import { changeText, useRefresh } from '../queries.ts';

const route = getRouteApi('/datasets/$id');

/** Why a change was refused; if another person changed the dataset, who it was, and how to continue. */
export function ChangeError({
  dataset,
  error,
}: {
  /** As the page shows it. */
  readonly dataset: Dataset;
  readonly error: Error;
}) {
  const isStale = error instanceof ApiProblem && error.problem.code === 'version_changed';
  return isStale ? <ChangedMeanwhile dataset={dataset} /> : <ErrorView error={error} />;
}

function ChangedMeanwhile({ dataset: { id, version } }: { readonly dataset: Dataset }) {
  const refresh = useRefresh();
  const navigate = route.useNavigate();
  const reload = async (): Promise<void> => {
    await refresh();
    // the version that was the newest one
    await navigate({ resetScroll: false, replace: true, search: ({ version: _, ...rest }) => rest });
  };
  const { data } = useQuery({
    queryKey: ['versions', id, 'newest'],
    queryFn: ({ signal }) => get('/datasets/{id}/versions', { path: { id }, query: { limit: 1 } }, signal),
    staleTime: 0,
  });
  const newest = data?.data[0];
  // it was read again
  if (newest?.version === version) return null;
  return (
    <Alert color="orange" variant="light" role="alert" title="The dataset has changed in the meantime">
      {newest !== undefined && (
        <Text size="sm" dir="auto" className="break">
          Version {newest.version} by {newest.author ?? 'a user without a key'},{' '}
          <Age since={newest.created_at} />: {changeText(newest.change)}
          {newest.message === null ? '' : ` – ${newest.message}`}.
        </Text>
      )}
      <Text size="sm">What you typed stays.</Text>
      <SmallButton mt="sm" onClick={() => void reload()}>
        Reload the dataset
      </SmallButton>
    </Alert>
  );
}

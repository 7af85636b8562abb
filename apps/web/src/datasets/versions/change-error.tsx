import { Alert, Text } from '@mantine/core';
import { ApiProblem } from '../../api/api-problem.ts';
import { useRead } from '../../api/use-read.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { SmallButton } from '../../ui/small-button.ts';
import { Age } from '../../ui/text/age.tsx';
import { useRefresh } from './use-change.ts';
import { changeText } from './use-versions.ts';

/** Why a change was refused; if another person changed the dataset, who it was, and how to continue. */
export function ChangeError({ id, error }: { readonly id: string; readonly error: Error }) {
  const isStale = error instanceof ApiProblem && error.problem.code === 'version_changed';
  return isStale ? <ChangedMeanwhile id={id} /> : <ErrorView error={error} />;
}

function ChangedMeanwhile({ id }: { readonly id: string }) {
  const refresh = useRefresh();
  const { data } = useRead({
    queryKey: ['versions', id, 'newest'],
    read: (api, signal) =>
      api.GET('/datasets/{id}/versions', { params: { path: { id }, query: { limit: 1 } }, signal }),
    staleTime: 0,
  });
  const newest = data?.data[0];
  return (
    <Alert color="orange" variant="light" role="alert" title="The dataset has changed in the meantime">
      {newest !== undefined && (
        <Text size="sm" dir="auto" className="break">
          Version {newest.version} by {newest.author ?? 'a user without a key'},{' '}
          <Age since={newest.created_at} />: {changeText(newest.change)}
          {newest.message === null ? '' : ` – ${newest.message}`}.
        </Text>
      )}
      <Text size="sm">What you typed stays if this item was not changed.</Text>
      <SmallButton mt="sm" onClick={() => void refresh()}>
        Reload the dataset
      </SmallButton>
    </Alert>
  );
}

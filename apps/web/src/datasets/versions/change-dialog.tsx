import { Alert, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Paths } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { ApiProblem, get, send } from '../../api/api.ts';
import { SmallButton } from '../../ui/buttons.tsx';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { ErrorView } from '../../ui/query-state.tsx';
import { Age } from '../../ui/table/cells.tsx';
import { datasetRoute } from '../dataset-search.ts';
import type { Dataset } from '../items/item-windows.ts';
import { type Changed, changeText, MESSAGE_FIELD, useChange, useRefresh } from '../queries.ts';

type Edits = Paths['/datasets/{id}/items']['patch']['requestBody']['content']['application/json']['edits'];

/** What a change requires: that the dataset is as the page shows it. */
export const onlyOn = ({ id, version_hash }: Dataset) => {
  return { path: { id }, header: { 'If-Match': `"${version_hash}"` } };
};

export const editItems = (dataset: Dataset, edits: Edits, message: string): Promise<Changed> =>
  send('patch', '/datasets/{id}/items', onlyOn(dataset), { edits, message: message || null });

export function ChangeDialog(
  props: Omit<Parameters<typeof FormDialog>[0], 'submit' | 'showError'> & {
    readonly dataset: Dataset;
    readonly message?: string;
    readonly make: (message: string) => Promise<Changed>;
    /** Position of the item that is open afterwards; by default the same item stays. */
    readonly position?: string | undefined;
    readonly onChanged?: () => void;
  },
) {
  const { dataset, message = '', make, position, onChanged, children, ...dialog } = props;
  const change = useChange();
  const form = useForm({ initialValues: { message } });
  const submit = async (): Promise<void> => {
    await change(make(form.values.message), position);
    onChanged?.();
  };
  return (
    <FormDialog
      {...dialog}
      submit={submit}
      showError={(error) => <ChangeError dataset={dataset} error={error} />}
    >
      {children}
      <Fields form={form} fields={[MESSAGE_FIELD]} />
    </FormDialog>
  );
}

/** Why a change was refused; if another person changed the dataset, who it was, and how to continue. */
export function ChangeError(props: {
  /** As the page shows it. */
  readonly dataset: Dataset;
  readonly error: Error;
}) {
  const { dataset, error } = props;
  const isStale = error instanceof ApiProblem && error.problem.code === 'version_changed';
  return isStale ? <ChangedMeanwhile dataset={dataset} /> : <ErrorView error={error} />;
}

function ChangedMeanwhile({ dataset: { id, version } }: { readonly dataset: Dataset }) {
  const refresh = useRefresh();
  const navigate = datasetRoute.useNavigate();
  const reload = async (): Promise<void> => {
    await refresh();
    // an address with a version names the one that was the newest
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
    <Alert color="orange" title="The dataset has changed in the meantime">
      {newest !== undefined && (
        <Text size="sm" dir="auto" className="break">
          Version {newest.version} by {newest.author ?? 'a user without a key'},{' '}
          <Age since={newest.created_at} />: {changeText(newest.change)}
          {newest.message === null ? '' : ` – ${newest.message}`}.
        </Text>
      )}
      <Text size="sm">What you typed stays.</Text>
      <SmallButton label="Reload the dataset" mt="sm" onClick={() => void reload()} />
    </Alert>
  );
}

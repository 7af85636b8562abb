import { Menu } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api/api.ts';
import { ReportAction } from '../report/report-action.tsx';
import { useCan } from '../session/session.tsx';
import { ExportMenu, IconButton, LinkButton, MenuButton, SmallButton } from '../ui/buttons.tsx';
import { Fields } from '../ui/form/fields.tsx';
import { DeleteDialog, FormDialog, useSaved } from '../ui/form/form-dialog.tsx';
import { ErrorView } from '../ui/query-state.tsx';
import { formatCost, formatCount, formatCountOf } from '../ui/text/formats.ts';
import { nameOf, type Run } from './queries.ts';
import { RescoreRun } from './rescore-run.tsx';
import { SaveView } from './results/save-view.tsx';

/** What can be done with a run; what the session's role may not do is not offered. */
export function RunActions({ run }: { readonly run: Run }) {
  const canEdit = useCan('editor');
  const [dialog, setDialog] = useState<'rename' | 'continue' | 'rescore' | 'add' | 'delete' | null>(null);
  const close = (): void => setDialog(null);
  const isWhole = run.status === 'completed';
  const hasEnded = run.finished_at !== null;
  // a run that came with a package, or has the outputs of another one, has no provider to ask again
  const canAsk = !run.imported && run.source_run_id === null;
  const queries = useQueryClient();
  const params = { path: { id: run.id } };
  const onSettled = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ['run', run.id] });
    await queries.invalidateQueries({ queryKey: ['runs'] });
  };
  const cancel = useMutation({ mutationFn: () => send('post', '/runs/{id}/cancel', params), onSettled });
  const retry = useMutation({
    mutationFn: (only: RetryOnly) => send('post', '/runs/{id}/retry', params, { only }),
    onSettled,
  });
  return (
    <>
      {canEdit && !hasEnded && (
        <SmallButton
          label="Cancel"
          icon="playerStop"
          disabled={run.status === 'cancelling'}
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        />
      )}
      {canEdit && hasEnded && (
        <MenuButton label="Again" icon="refresh" isPending={retry.isPending}>
          {canAsk && run.status === 'stopped' && (
            <Menu.Item onClick={() => setDialog('continue')}>Continue with another maximum cost…</Menu.Item>
          )}
          {canAsk &&
            RETRIES.map(([only, label]) => (
              <Menu.Item
                key={only}
                // a run that ended early also has results that are missing
                disabled={run.counts[only] === 0 && run.counts.done === run.counts.total}
                onClick={() => retry.mutate(only)}
              >
                {label} ({formatCount(run.counts[only])})
              </Menu.Item>
            ))}
          <Menu.Item onClick={() => setDialog('rescore')}>Score again…</Menu.Item>
          {!run.imported && <Menu.Item onClick={() => setDialog('add')}>Add a scorer…</Menu.Item>}
        </MenuButton>
      )}
      {canEdit && canAsk && (
        <LinkButton
          label="Copy run"
          variant="default"
          icon="copyPlus"
          to="/runs/new"
          search={{ copy: run.id }}
        />
      )}
      <LinkButton
        label="Compare"
        variant="default"
        icon="arrowsDiff"
        to="/compare"
        search={{ runs: run.id }}
      />
      <ExportMenu
        note={
          isWhole
            ? undefined
            : `The run is ${run.status}: the package has what there is, and says that it is incomplete.`
        }
        files={[
          [
            'Package with the dataset',
            // a run that is not completed is exported only if the request says so
            `/datasets/${run.dataset_id}/export?run_id=${run.id}${isWhole ? '' : '&allow_incomplete=true'}`,
          ],
          ['Results as JSON Lines', `/runs/${run.id}/results.jsonl`],
          ['Scores and outputs as CSV', `/runs/${run.id}/results.csv`],
          ['Scores and outputs as CSV for Excel', `/runs/${run.id}/results.csv?excel=true`],
          ['Results as Parquet', `/runs/${run.id}/results.parquet`],
        ]}
      >
        {run.counts.done > 0 && <SaveView run={run} />}
        {run.counts.done > 0 && (
          <ReportAction runs={[run]}>
            {(label, save, isPending) => (
              <Menu.Item closeMenuOnClick={false} disabled={isPending} onClick={save}>
                {label}
              </Menu.Item>
            )}
          </ReportAction>
        )}
      </ExportMenu>
      {canEdit && <IconButton label="Rename" icon="pencil" onClick={() => setDialog('rename')} />}
      {canEdit && hasEnded && <IconButton label="Delete" icon="trash" onClick={() => setDialog('delete')} />}
      {[cancel, retry].map(({ error, submittedAt }) =>
        error === null ? null : <ErrorView key={submittedAt} error={error} />,
      )}
      {dialog === 'rename' && <RenameRun run={run} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteDialog
          what="run"
          id={run.id}
          name={nameOf(run)}
          warning={`This deletes the run with its ${formatCountOf(run.counts.done, 'result')}.`}
          onClose={close}
        />
      )}
      {dialog === 'continue' && <ContinueRun run={run} onClose={close} />}
      {(dialog === 'rescore' || dialog === 'add') && (
        <RescoreRun run={run} isAdded={dialog === 'add'} onClose={close} />
      )}
    </>
  );
}

type RetryOnly = 'failed' | 'unscored' | 'truncated';

const RETRIES: readonly (readonly [RetryOnly, string])[] = [
  ['failed', 'Retry failed results'],
  ['unscored', 'Retry unscored results'],
  ['truncated', 'Retry truncated results'],
];

/** Makes the results that a run lacks because it has reached its maximum cost, up to a new one. */
function ContinueRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const saved = useSaved(['run', run.id], ['runs']);
  const { max_cost } = run.config as { readonly max_cost?: { readonly amount: number } | null };
  const form = useForm<{ maxCost: number | string }>({ initialValues: { maxCost: max_cost?.amount ?? '' } });
  const { maxCost } = form.values;
  const proceed = (): Promise<void> => {
    const params = { path: { id: run.id } };
    const body = { only: 'missing', max_cost: maxCost === '' ? null : { amount: Number(maxCost) } } as const;
    return saved(send('post', '/runs/{id}/retry', params, body));
  };
  return (
    <FormDialog title="Continue the run" action="Continue" submit={proceed} onClose={onClose}>
      <Fields
        form={form}
        fields={[
          {
            ...{ name: 'maxCost', label: 'Maximum cost', kind: 'decimal', min: 0, max: 1e9, isFirst: true },
            description: `Of the whole run, which has cost ${formatCost(run.cost)} so far. Empty for no limit`,
          },
        ]}
      />
    </FormDialog>
  );
}

/** Changes the name of a run. Without one, it is called after its model. */
function RenameRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const saved = useSaved(['run', run.id], ['runs']);
  const form = useForm({ initialValues: { name: run.name ?? '' } });
  const description = `Without one: ${nameOf({ ...run, name: null })}`;
  const save = (): Promise<void> => {
    const params = { path: { id: run.id } };
    const body = { name: form.values.name.trim() || null };
    return saved(send('patch', '/runs/{id}', params, body));
  };
  return (
    <FormDialog title="Rename the run" action="Save" submit={save} onClose={onClose}>
      <Fields
        form={form}
        fields={[{ name: 'name', label: 'Name', description, maxLength: 255, isFirst: true }]}
      />
    </FormDialog>
  );
}

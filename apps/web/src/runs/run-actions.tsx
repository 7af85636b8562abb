import { Menu, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Paths } from '@svc/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { send } from '../api/api.ts';
import { ReportAction } from '../report/report-action.tsx';
import { useCan } from '../session/session.tsx';
import { ExportMenu, IconButton, LinkButton, MenuButton, SmallButton } from '../ui/buttons.tsx';
import { Fields } from '../ui/form/fields.tsx';
import { DeleteDialog, FormDialog, useSaved } from '../ui/form/form-dialog.tsx';
import { ErrorView } from '../ui/query-state.tsx';
import { formatCost, formatCount, formatCountOf } from '../ui/text/formats.ts';
import { checkerFields } from './create/config-fields.ts';
import { checkerOf, judgeOf, problemsOf, typedChecker, typedJudge } from './create/run-form.ts';
import { JudgeFields } from './create/scoring.tsx';
import { nameOf, type Run, scorersOf } from './queries.ts';
import { SaveView } from './results/save-view.tsx';

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

type Body = Paths['/runs/{id}/rescore']['post']['requestBody']['content']['application/json'];

/** As the service takes names of scorers. */
const SCORER_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MAX_RUN_NAME = 255;
const SUFFIX = ' (2)';

/** Scores the stored outputs of a run with another checker or judge: as a new run, or as one more scorer next to its own. */
function RescoreRun(props: { readonly run: Run; readonly isAdded: boolean; readonly onClose: () => void }) {
  const { run, isAdded, onClose } = props;
  const navigate = useNavigate();
  const saved = useSaved(['run', run.id], ['runs'], ['results', run.id]);
  const form = useForm({
    initialValues: {
      config: { checker: typedChecker(), judge: typedJudge() },
      // without a name, a run would have the name of this one, or of its model
      name: isAdded ? '' : `${nameOf(run).slice(0, MAX_RUN_NAME - SUFFIX.length)}${SUFFIX}`,
    },
    validate: problemsOf,
    validateInputOnChange: true,
  });
  const name = form.values.name.trim();
  const isTaken = isAdded && scorersOf(run).includes(name);
  const { price } = run.config as { readonly price?: { readonly currency: string } | null };
  const currency = price?.currency ?? 'USD';
  const judge = judgeOf(form.values.config.judge, currency);
  const checker = checkerOf(form.values.config.checker);
  const isBoth = judge !== undefined && checker !== undefined;
  const isReady = isAdded
    ? SCORER_NAME.test(name) && !isTaken && !isBoth
    : judge !== undefined || checker !== undefined;
  const rescore = async (): Promise<void> => {
    const scorer = { name: name || undefined, checker, judge: judge ?? undefined };
    const body = isAdded ? { scorers: [scorer], add: true } : scorer;
    const sending = send('post', '/runs/{id}/rescore', { path: { id: run.id } }, body as unknown as Body);
    await saved(sending);
    if (!isAdded) await navigate({ to: '/runs/$id', params: { id: (await sending).id } });
  };
  const title = isAdded ? 'Add a scorer' : 'Score again';
  return (
    <FormDialog
      title={title}
      action={isAdded ? 'Add' : title}
      isReady={judge !== null && isReady}
      submit={rescore}
      onClose={onClose}
    >
      <Text size="sm">
        {isAdded
          ? 'The stored outputs get one more score, next to those that they have. Only a judge is asked.'
          : 'The outputs stay as they are; only a judge is asked. The scores become a new run.'}
      </Text>
      <Fields
        form={form}
        fields={[
          isAdded
            ? {
                ...{
                  name: 'name',
                  label: 'Name of the scorer',
                  maxLength: 64,
                  required: true,
                  isFirst: true,
                },
                description: isTaken ? 'The run has a scorer of this name.' : 'Letters, digits, and _ . -',
              }
            : { name: 'name', label: 'Name of the new run', maxLength: MAX_RUN_NAME },
        ]}
      />
      <Fields form={form} fields={checkerFields(form.values.config.checker.type, 'For every item')} />
      <JudgeFields form={form} currency={currency} />
      {isAdded && isBoth && judge !== null && (
        <Text size="sm" c="orange">
          A scorer is a checker or a judge, not both.
        </Text>
      )}
    </FormDialog>
  );
}

import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Paths } from '@svc/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { send } from '../../api/send.ts';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { stated } from '../create/config-values.ts';
import { checkerOf, judgeOf, problemsOf, typedChecker, typedJudge } from '../create/run-form.ts';
import { ScoringFields } from '../create/scoring.tsx';
import { nameOf, type Run } from '../queries.ts';

type Body = Paths['/runs/{id}/rescore']['post']['requestBody']['content']['application/json'];

const MAX_NAME = 255;
const SUFFIX = ' (2)';

/** Scores the stored outputs of a run with another checker or judge, as a new run. */
export function RescoreRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({
    // without a name it would have the name of the run, or of its model
    initialValues: {
      config: { checker: typedChecker(), judge: typedJudge() },
      name: `${nameOf(run).slice(0, MAX_NAME - SUFFIX.length)}${SUFFIX}`,
    },
    validate: problemsOf,
    validateInputOnChange: true,
  });
  const { price } = run.config as { readonly price?: { readonly currency: string } | null };
  const currency = price?.currency ?? 'USD';
  const judge = judgeOf(form.values.config.judge, currency);
  const checker = checkerOf(form.values.config.checker);
  const rescore = async (): Promise<void> => {
    const body = stated({ checker, judge, name: form.values.name.trim() || undefined });
    const { id } = await send(
      'post',
      '/runs/{id}/rescore',
      { path: { id: run.id } },
      body as unknown as Body,
    );
    await queries.invalidateQueries({ queryKey: ['runs'] });
    await navigate({ to: '/runs/$id', params: { id } });
  };
  return (
    <FormDialog
      title="Score again"
      action="Score again"
      isReady={judge !== null && (judge !== undefined || checker !== undefined)}
      submit={rescore}
      onClose={onClose}
    >
      <Text size="sm">The outputs stay as they are; only a judge is asked. The scores become a new run.</Text>
      <ScoringFields form={form} checkerFor="For every item" currency={currency} />
      <Fields form={form} fields={[{ name: 'name', label: 'Name of the new run', maxLength: MAX_NAME }]} />
    </FormDialog>
  );
}

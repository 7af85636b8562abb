import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Paths } from '@svc/client';
import { useNavigate } from '@tanstack/react-router';
import { send } from '../api/api.ts';
import { Fields } from '../ui/form/fields.tsx';
import { FormDialog, useSaved } from '../ui/form/form-dialog.tsx';
import { checkerFields } from './create/config-fields.ts';
import { checkerOf, judgeOf, problemsOf, typedChecker, typedJudge } from './create/run-form.ts';
import { JudgeFields } from './create/scoring.tsx';
import { nameOf, type Run, scorersOf } from './queries.ts';

type Body = Paths['/runs/{id}/rescore']['post']['requestBody']['content']['application/json'];

/** As the service takes names of scorers. */
const SCORER_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MAX_RUN_NAME = 255;
const SUFFIX = ' (2)';

/** Scores the stored outputs of a run with another checker or judge: as a new run, or as one more scorer next to its own. */
export function RescoreRun({
  run,
  isAdded,
  onClose,
}: {
  readonly run: Run;
  readonly isAdded: boolean;
  readonly onClose: () => void;
}) {
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

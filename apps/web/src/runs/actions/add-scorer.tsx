import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Paths } from '@svc/client';
import { send } from '../../api/send.ts';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog, useSaved } from '../../ui/form/form-dialog.tsx';
import { stated } from '../create/config-values.ts';
import { checkerOf, judgeOf, problemsOf, typedChecker, typedJudge } from '../create/run-form.ts';
import { ScoringFields } from '../create/scoring.tsx';
import { type Run, scorersOf } from '../queries.ts';

type Body = Paths['/runs/{id}/rescore']['post']['requestBody']['content']['application/json'];

/** As the service takes names of scorers. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** Scores the stored outputs of a run by one more scorer, next to its own. */
export function AddScorer({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const saved = useSaved(['run', run.id], ['runs'], ['results', run.id]);
  const form = useForm({
    initialValues: { config: { checker: typedChecker(), judge: typedJudge() }, name: '' },
    validate: problemsOf,
    validateInputOnChange: true,
  });
  const name = form.values.name.trim();
  const isTaken = scorersOf(run).includes(name);
  const { price } = run.config as { readonly price?: { readonly currency: string } | null };
  const currency = price?.currency ?? 'USD';
  const judge = judgeOf(form.values.config.judge, currency);
  const checker = checkerOf(form.values.config.checker);
  const hasOne = judge !== null && (judge === undefined || checker === undefined);
  const add = (): Promise<void> => {
    const body = { scorers: [stated({ name, checker, judge: judge ?? undefined })], add: true };
    return saved(send('post', '/runs/{id}/rescore', { path: { id: run.id } }, body as unknown as Body));
  };
  return (
    <FormDialog
      title="Add a scorer"
      action="Add"
      isReady={NAME.test(name) && !isTaken && hasOne}
      submit={add}
      onClose={onClose}
    >
      <Text size="sm">
        The stored outputs get one more score, next to those that they have. Only a judge is asked.
      </Text>
      <Fields
        form={form}
        fields={[
          {
            name: 'name',
            label: 'Name of the scorer',
            description: isTaken ? 'The run has a scorer of this name.' : 'Letters, digits, and _ . -',
            maxLength: 64,
            required: true,
            isFirst: true,
          },
        ]}
      />
      <ScoringFields form={form} checkerFor="For every item" currency={currency} />
      {!hasOne && judge !== null && (
        <Text size="sm" c="orange">
          A scorer is a checker or a judge, not both.
        </Text>
      )}
    </FormDialog>
  );
}

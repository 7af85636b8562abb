import { Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { type Field, Fields, More } from '../../../ui/form/fields.tsx';
import { useRecentRuns } from '../../use-runs.ts';
import { suggestionsOf, withProviders } from '../provider/suggestions-of.ts';
import { useProviders } from '../provider/use-providers.ts';
import { checkerFields, type FieldGroups, judgeFields } from '../run-fields.ts';
import type { ScoringForm } from '../run-form.ts';

/** Fields; the rare ones are behind a button. */
export function CommonAndRare<Values extends object>({
  form,
  fields: { common, rare },
}: {
  readonly form: UseFormReturnType<Values>;
  readonly fields: FieldGroups<NoInfer<Values>>;
}) {
  return (
    <>
      <Fields form={form} fields={common} />
      {rare.length > 0 && (
        <More what="parameters" isForced={rare.some(({ name }) => form.errors[name] !== undefined)}>
          <Fields form={form} fields={rare} />
        </More>
      )}
    </>
  );
}

const IS_JUDGED: Field = {
  name: 'judge.isUsed',
  label: 'Let a model judge',
  kind: 'switch',
  description: 'Items with criteria, a judge prompt, or the checker judge',
};

/** How outputs are scored: by a checker, or by another model. */
export function ScoringFields<Values extends ScoringForm>({
  form,
  checkerFor,
  currency,
  pointer,
  afterChecker = [],
  several,
}: {
  readonly form: UseFormReturnType<Values>;
  /** Which items the checker is for. */
  readonly checkerFor: string;
  readonly currency: string;
  /** Where the request has the checker and the judge, such as `/config`. */
  readonly pointer: string;
  readonly afterChecker?: readonly Field<Values>[];
  /** What takes the place of the checker where there are several scorers; undefined where there are none. */
  readonly several?: ReactNode;
}) {
  const { judge } = form.values;
  const suggestions = {
    ...withProviders(suggestionsOf(useRecentRuns(), judge.type), useProviders(), judge),
    pointers: [],
  };
  return (
    <Stack gap="sm">
      {several ?? (
        <Fields form={form} fields={[...checkerFields(checkerFor, `${pointer}/checker`), ...afterChecker]} />
      )}
      <Stack gap="xs" role="group" aria-label="Judge">
        <Fields form={form} fields={[IS_JUDGED]} />
        {judge.isUsed && (
          <CommonAndRare
            form={form}
            fields={judgeFields(judge.type, `${pointer}/judge`, currency, suggestions)}
          />
        )}
      </Stack>
    </Stack>
  );
}

import type { Field } from '../../../ui/form/fields.tsx';
import type { RunForm } from '../run-form.ts';
import { CHECKER_CHOICES, optionFields } from './checker-form.ts';
import { EMPTY_ROW, type ScorerRow } from './scorer-rows.ts';

/** The fields of a row. */
export const scorerFields = (at: number): readonly Field<RunForm>[] => {
  const pointer = `/config/scorers/${at}`;
  const rowOf = ({ scorers }: RunForm): ScorerRow => scorers[at] ?? EMPTY_ROW;
  return [
    {
      name: `scorers.${at}.name`,
      label: at === 0 ? 'Name of the main score' : `Name of score ${at + 1}`,
      required: true,
      maxLength: 64,
      pointer: `${pointer}/name`,
    },
    {
      name: `scorers.${at}.by`,
      label: `Scored by (${at + 1})`,
      kind: 'select',
      data: [
        ...CHECKER_CHOICES.filter(({ value }) => value !== 'judge'),
        { value: 'judge', label: 'judge: the model below decides' },
        { value: 'items', label: 'as the items say' },
      ],
      pointer,
    },
    ...optionFields<RunForm>(`scorers.${at}.options`, `${pointer}/checker`, (form) => rowOf(form).by),
  ];
};

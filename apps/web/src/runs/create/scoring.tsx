import { Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { SmallButton } from '../../ui/buttons.tsx';
import { type Field, Fields } from '../../ui/form/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { CHECKER_CHOICES, judgeFields, optionFields, suggesting } from './config-fields.ts';
import { useModelSuggestions } from './provider-choice.tsx';
import { EMPTY_FORM, MAX_SCORERS, type RunForm, type ScorerRow, type TypedScoring } from './run-form.ts';

const IS_JUDGED: Field = {
  name: 'config.judge.isUsed',
  label: 'Let a model judge',
  kind: 'switch',
  description: 'Items with criteria, a judge prompt, or the checker judge',
};

export function JudgeFields<Values extends { readonly config: TypedScoring }>(props: {
  readonly form: UseFormReturnType<Values>;
  readonly currency: string;
}) {
  const { form, currency } = props;
  const { judge } = form.values.config;
  const suggestions = useModelSuggestions('judge', judge);
  const fields = judge.isUsed ? suggesting(judgeFields(judge.type, currency), suggestions) : [];
  return (
    <Stack gap="xs" role="group" aria-label="Judge">
      <Fields form={form} fields={[IS_JUDGED, ...fields]} />
    </Stack>
  );
}

export const scorerFields = ({ by }: ScorerRow, at: number): readonly Field[] => [
  {
    ...{
      name: `config.scorers.${at}.name`,
      pointer: `/config/scorers/${at}/name`,
      required: true,
      maxLength: 64,
    },
    label: at === 0 ? 'Name of the main score' : `Name of score ${at + 1}`,
  },
  {
    ...{ name: `config.scorers.${at}.by`, pointer: `/config/scorers/${at}` },
    ...{ label: `Scored by (${at + 1})`, kind: 'select' },
    data: [
      ...CHECKER_CHOICES.filter(({ value }) => value !== 'judge'),
      { value: 'judge', label: 'judge: the model below decides' },
      { value: 'items', label: 'as the items say' },
    ],
  },
  ...(by === 'judge' ? [] : optionFields(by, `scorers.${at}.checker`)),
];

const EMPTY_ROW: ScorerRow = { name: '', by: 'exact_match', checker: EMPTY_FORM.config.checker, copied: {} };

/** The rows to begin with where one scorer becomes several: the one of the form, and another. */
function severalOf({ checker, judge }: TypedScoring): readonly ScorerRow[] {
  const by = checker.type ?? (judge.isUsed ? 'judge' : 'items');
  const other = by === 'includes' ? 'exact_match' : 'includes';
  return [
    { ...EMPTY_ROW, name: 'main', by, checker },
    { ...EMPTY_ROW, name: 'second', by: other },
  ];
}

export function ScorerList({ form }: { readonly form: UseFormReturnType<RunForm> }) {
  const { scorers } = form.values.config;
  const isSeveral = scorers.length > 0;
  const change = (rows: readonly ScorerRow[]): void => form.setFieldValue('config.scorers', rows);
  return (
    <Stack gap="xs" role="group" aria-label="Scorers">
      {scorers.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name before one is typed
        <Stack key={at} gap={4}>
          <Fields form={form} fields={scorerFields(row, at)} cols={{ base: 1, xs: 2 }} />
          <SmallButton
            label={`Remove score ${at + 1}`}
            variant="subtle"
            size="compact-xs"
            w="fit-content"
            onClick={() => change(scorers.length <= 2 ? [] : scorers.filter((_row, other) => other !== at))}
          />
        </Stack>
      ))}
      <SmallButton
        label={isSeveral ? 'Add a score' : 'Score in several ways'}
        w="fit-content"
        leftSection={<Icon name="plus" size={14} />}
        disabled={scorers.length >= MAX_SCORERS}
        onClick={() =>
          change(
            isSeveral
              ? [...scorers, { ...EMPTY_ROW, name: `score-${scorers.length + 1}` }]
              : severalOf(form.values.config),
          )
        }
      />
    </Stack>
  );
}

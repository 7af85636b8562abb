import { Button, Group, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { Fields } from '../../../ui/form/fields.tsx';
import { SmallButton } from '../../../ui/small-button.tsx';
import type { RunForm } from '../run-form.ts';
import { scorerFields } from './scorer-fields.ts';
import { EMPTY_ROW, MAX_SCORERS, severalOf } from './scorer-rows.ts';

/** Several scores of each output: a row each; the first is the main one. */
export function ScorerList({ form }: { readonly form: UseFormReturnType<RunForm> }) {
  const { scorers } = form.values;
  const isSeveral = scorers.length > 0;
  return (
    <Stack gap="xs" role="group" aria-label="Scorers">
      {scorers.map((_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name before one is typed
        <Stack key={at} gap={4}>
          <Fields form={form} fields={scorerFields(at)} cols={{ base: 1, xs: 2 }} />
          <Button
            variant="subtle"
            size="compact-xs"
            w="fit-content"
            onClick={() =>
              form.setFieldValue(
                'scorers',
                scorers.length <= 2 ? [] : scorers.filter((_row, other) => other !== at),
              )
            }
          >
            Remove score {at + 1}
          </Button>
        </Stack>
      ))}
      <Group>
        <SmallButton
          leftSection={<IconPlus size={14} />}
          disabled={scorers.length >= MAX_SCORERS}
          onClick={() =>
            form.setFieldValue(
              'scorers',
              isSeveral
                ? [...scorers, { ...EMPTY_ROW, name: `score-${scorers.length + 1}` }]
                : severalOf(form.values),
            )
          }
        >
          {isSeveral ? 'Add a score' : 'Score in several ways'}
        </SmallButton>
      </Group>
    </Stack>
  );
}

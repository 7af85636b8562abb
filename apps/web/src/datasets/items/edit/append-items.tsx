import { FileInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../../../api/api-context.tsx';
import { dataOf } from '../../../api/api-problem.ts';
import { uploadBody } from '../../../api/upload-body.ts';
import { type Field, Fields } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/form/form-dialog.tsx';
import { MESSAGE_FIELD } from '../../versions/message-field.ts';
import { useChange } from '../../versions/use-change.ts';
import type { Dataset } from '../item-windows.ts';

interface AppendForm {
  readonly lines: string;
  readonly section: string;
  readonly message: string;
}

/** Adds items to the end of a dataset: pasted, or from a file. */
export function AppendItems({
  dataset,
  onClose,
}: {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const change = useChange();
  const names = dataset.sections.map(({ name }) => name);
  const form = useForm<AppendForm & { readonly file: File | null }>({
    initialValues: {
      lines: '',
      file: null,
      section: names.length === 1 ? (names[0] ?? '') : '',
      message: '',
    },
  });
  const { lines, file, section, message } = form.values;
  const sent = file ?? (lines.trim() === '' ? null : new File([lines], 'pasted.jsonl'));
  const append = async (): Promise<void> => {
    if (sent === null) return;
    const query = { mode: 'append' as const, ...(section !== '' && { section }) };
    const response = dataOf(
      api.POST('/datasets/{id}/items', {
        params: { path: { id: dataset.id }, query },
        ...uploadBody({ files: [sent], message }),
      }),
    );
    // a job is made on request only
    await change(response as Promise<Exclude<Awaited<typeof response>, { readonly kind: string }>>);
  };
  return (
    <FormDialog
      title="Add items"
      action="Add"
      size="xl"
      isReady={sent !== null}
      submit={append}
      onClose={onClose}
    >
      <Text size="sm">They go to the end of their section, as the next version of the dataset.</Text>
      {file === null && <Fields form={form} fields={LINES} />}
      <FileInput
        label="Or a file"
        description="Items as JSON Lines, or a package"
        placeholder="Choose a file"
        clearable
        {...form.getInputProps('file')}
      />
      <Fields
        form={form}
        fields={[
          {
            name: 'section',
            label: 'Section',
            description: 'A new name makes a new section',
            data: names,
          },
          MESSAGE_FIELD,
        ]}
      />
    </FormDialog>
  );
}

const LINES: readonly Field[] = [
  {
    name: 'lines',
    label: 'Items, one JSON object a line',
    kind: 'code',
    placeholder: '{"id": "q-7", "inputs": {"prompt": "What is 6 × 7?"}, "answer": "42"}',
    isFirst: true,
  },
];

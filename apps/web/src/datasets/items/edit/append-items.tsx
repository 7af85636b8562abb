import { FileInput, SegmentedControl, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { useMemo, useState } from 'react';
import { upload } from '../../../api/upload-body.ts';
import { ITEM_TYPES } from '../../../mapping/mapping-fields.ts';
import { type Field, Fields } from '../../../ui/form/fields.tsx';
import { QueryState } from '../../../ui/query-state.tsx';
import { MappedTable } from '../../../upload/table-upload.tsx';
import { useUploadPreview } from '../../../upload/use-upload.ts';
import type { Changed } from '../../queries.ts';
import { ChangeDialog } from '../../versions/change-dialog.tsx';
import type { Dataset } from '../item-windows.ts';

const EMPTY = {
  id: '',
  prompt: '',
  answer: '',
  type: '',
  tags: [] as readonly string[],
  table: '',
  lines: '',
  section: '',
};

const WAYS = [
  { value: 'form', label: 'Form' },
  { value: 'csv', label: 'CSV' },
  { value: 'lines', label: 'JSON Lines' },
] as const;

const TYPING_MS = 400;

export function AppendItems(props: { readonly dataset: Dataset; readonly onClose: () => void }) {
  const { dataset, onClose } = props;
  const names = dataset.sections.map(({ name }) => name);
  const [way, setWay] = useState<(typeof WAYS)[number]['value']>('form');
  const [file, setFile] = useState<File | null>(null);
  const [mapping, setMapping] = useState<string | null>(null);
  const form = useForm({
    initialValues: { ...EMPTY, section: names.length === 1 ? (names[0] ?? '') : '' },
  });
  const { section, prompt, table, lines } = form.values;
  const [settled] = useDebouncedValue(table, TYPING_MS);
  // another file, which has another time, for each text
  const pasted = useMemo(() => (settled.trim() === '' ? null : new File([settled], 'pasted.csv')), [settled]);
  const sent =
    way === 'form'
      ? prompt.trim() === ''
        ? null
        : new File([`${canonicalJson(itemOf(form.values))}\n`], 'added.jsonl')
      : way === 'csv'
        ? (file ?? pasted)
        : (file ?? (lines.trim() === '' ? null : new File([lines], 'pasted.jsonl')));
  const append = (message: string): Promise<Changed> => {
    const query = { mode: 'append' as const, ...(section !== '' && { section }) };
    const typed = { message, mapping: way === 'csv' ? (mapping ?? undefined) : undefined };
    const params = { path: { id: dataset.id }, query };
    const files = sent === null ? [] : [sent];
    // a job is made on request only
    return upload('/datasets/{id}/items', { files, ...typed }, params) as Promise<Changed>;
  };
  return (
    <ChangeDialog
      dataset={dataset}
      title="Add items"
      action="Add"
      size={way === 'csv' && sent !== null ? 'min(1200px, 94vw)' : 'xl'}
      isReady={sent !== null && (way !== 'csv' || (mapping !== null && settled === table))}
      make={append}
      onClose={onClose}
    >
      <Text size="sm">They go to the end of their section, as the next version of the dataset.</Text>
      <SegmentedControl
        aria-label="How items are added"
        value={way}
        onChange={(value) => {
          setFile(null);
          setWay(value);
        }}
        data={[...WAYS]}
      />
      {way === 'form' && <Fields form={form} fields={ITEM_FIELDS} />}
      {way !== 'form' && file === null && <Fields form={form} fields={[way === 'csv' ? TABLE : LINES]} />}
      {way !== 'form' && (
        <FileInput
          label="Or a file"
          description={
            way === 'csv' ? 'CSV, TSV, Parquet, or JSON with a row each' : 'Items as JSON Lines, or a package'
          }
          placeholder="Choose a file"
          clearable
          value={file}
          onChange={setFile}
        />
      )}
      {way === 'csv' && sent !== null && (
        <PreviewedTable key={`${sent.name} ${sent.size}`} files={[sent]} onMapping={setMapping} />
      )}
      <Fields
        form={form}
        fields={[
          {
            name: 'section',
            label: 'Section',
            description: 'A new name makes a new section',
            data: names,
          },
        ]}
      />
    </ChangeDialog>
  );
}

function itemOf({ id, prompt, answer, type, tags }: typeof EMPTY): JsonObject {
  return {
    ...(id !== '' && { id }),
    ...(type !== '' && { type }),
    inputs: { prompt },
    ...(answer !== '' && { answer }),
    ...(tags.length > 0 && { tags: [...tags] }),
  };
}

function PreviewedTable(props: Pick<Parameters<typeof MappedTable>[0], 'files' | 'onMapping'>) {
  const { files, onMapping } = props;
  const preview = useUploadPreview(files);
  if (preview.data === undefined) return <QueryState query={preview} rows={3} />;
  return <MappedTable files={files} preview={preview.data} onMapping={onMapping} />;
}

const ITEM_FIELDS: readonly Field[] = [
  { name: 'prompt', label: 'Prompt', kind: 'lines', required: true, isFirst: true },
  { name: 'answer', label: 'Expected answer', kind: 'lines' },
  { name: 'type', label: 'Type', data: ITEM_TYPES },
  { name: 'id', label: 'Id', description: 'By default none' },
  { name: 'tags', label: 'Tags', kind: 'tags' },
];

const TABLE: Field = {
  name: 'table',
  label: 'A table with a line of headings',
  kind: 'code',
  placeholder: 'question,answer\nWhat is 6 × 7?,42',
  isFirst: true,
};

const LINES: Field = {
  name: 'lines',
  label: 'Items, one JSON object a line',
  kind: 'code',
  placeholder: '{"id": "q-7", "inputs": {"prompt": "What is 6 × 7?"}, "answer": "42"}',
  isFirst: true,
};

import { Group, SegmentedControl, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { canonicalJson, getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useState } from 'react';
import { send } from '../api/api.ts';
import { upload } from '../api/upload-body.ts';
import { DatasetSelect } from '../datasets/choose-dataset.tsx';
import { MESSAGE_FIELD, useRefresh } from '../datasets/queries.ts';
import { useCan } from '../session/session.tsx';
import { SmallButton } from '../ui/buttons.tsx';
import { Fields } from '../ui/form/fields.tsx';
import { FormDialog } from '../ui/form/form-dialog.tsx';
import { useNotify } from '../ui/layout/notices.tsx';
import { plainText, textOrJson } from '../ui/text/formats.ts';
import { readJson } from './create/config-values.ts';
import { nameOf, type Result, type Run } from './queries.ts';
import { answerIn } from './results/listed-result.tsx';

interface FailureActionsProps {
  readonly run: Pick<Run, 'id' | 'name' | 'config' | 'dataset_id'>;
  readonly result: Pick<Result, 'item_id' | 'item_hash' | 'section' | 'order_index' | 'output'>;
  /** The whole item, its files as links. */
  readonly item: JsonObject;
}

export function FailureActions(props: FailureActionsProps) {
  const canEdit = useCan('editor');
  const [dialog, setDialog] = useState<'correct' | 'copy' | null>(null);
  if (!canEdit) return null;
  const close = (): void => setDialog(null);
  return (
    <Group gap="xs">
      <SmallButton label="Correct the answer" icon="pencilCheck" onClick={() => setDialog('correct')} />
      <SmallButton label="Copy to dataset" icon="copy" onClick={() => setDialog('copy')} />
      {dialog === 'correct' && <CorrectAnswer {...props} onClose={close} />}
      {dialog === 'copy' && <CopyItems items={async () => [props.item]} onClose={close} />}
    </Group>
  );
}

/** Characters of an output in a message. */
const MAX_QUOTED = 200;

/** Another expected answer as a version of the dataset, which names the result that showed the mistake. */
function CorrectAnswer(props: FailureActionsProps & { readonly onClose: () => void }) {
  const { run, result, item, onClose } = props;
  const notify = useNotify();
  const refresh = useRefresh();
  const before = getMember(item, 'answer');
  const isText = before === undefined || typeof before === 'string';
  const name = plainText((result.item_id ?? `${result.section} ${result.order_index}`) as JsonValue, 60);
  const said = plainText(answerIn(result.output), MAX_QUOTED);
  const form = useForm({
    initialValues: {
      answer: textOrJson(before),
      message: `The answer of ${name}, by the result of ${nameOf(run)} (run ${run.id}): ${said}`.slice(
        0,
        1000,
      ),
    },
  });
  const save = async (): Promise<void> => {
    const { answer, message } = form.values;
    const read = isText ? { value: answer, problem: null } : readJson(answer);
    if (read.problem !== null) throw new RangeError(read.problem);
    const edit = {
      item_hash: result.item_hash ?? '',
      section: result.section,
      item: { ...item, answer: read.value },
    };
    const params = { path: { id: run.dataset_id } };
    const body = { edits: [edit], message: message || null };
    const { version } = await send('patch', '/datasets/{id}/items', params, body);
    await refresh();
    notify(`Version ${version} of the dataset has the corrected answer.`);
  };
  return (
    <FormDialog
      title="Correct the answer"
      action="Save as a new version"
      size="lg"
      isReady={result.item_hash !== null && form.isDirty('answer')}
      submit={save}
      onClose={onClose}
    >
      <Text size="sm">
        The results of this run stay as they are: they were scored with the answer before.
      </Text>
      <Fields
        form={form}
        fields={[
          {
            name: 'answer',
            label: isText ? 'Expected answer' : 'Expected answer, as JSON',
            kind: isText ? 'lines' : 'code',
            isFirst: true,
          },
          { ...MESSAGE_FIELD, kind: 'lines' },
        ]}
      />
    </FormDialog>
  );
}

export function CopyItems(props: {
  readonly items: () => Promise<readonly JsonObject[]>;
  readonly onClose: () => void;
}) {
  const { items, onClose } = props;
  const notify = useNotify();
  const refresh = useRefresh();
  const [into, setInto] = useState<'existing' | 'new'>('existing');
  const [datasetId, setDatasetId] = useState<string | null>(null);
  const form = useForm({ initialValues: { name: '', message: '' } });
  const { name, message } = form.values;
  const copy = async (): Promise<void> => {
    const copied = await items();
    const lines = copied.map((item) => canonicalJson(item)).join('\n');
    const files = [new File([`${lines}\n`], 'default.jsonl')];
    const params = { path: { id: datasetId ?? '' }, query: { mode: 'append' as const } };
    if (into === 'new') await upload('/datasets/upload', { files, name: name.trim(), message }, {});
    else await upload('/datasets/{id}/items', { files, message }, params);
    await refresh();
    notify(copied.length === 1 ? 'The item is copied.' : `${copied.length} items are copied.`);
  };
  return (
    <FormDialog
      title="Copy to dataset"
      action="Copy"
      isReady={into === 'new' ? name.trim() !== '' : datasetId !== null}
      submit={copy}
      onClose={onClose}
    >
      <SegmentedControl
        aria-label="Into which dataset"
        value={into}
        onChange={(value) => setInto(value === 'new' ? 'new' : 'existing')}
        data={[
          { value: 'existing', label: 'One that is there' },
          { value: 'new', label: 'A new one' },
        ]}
      />
      {into === 'existing' && (
        <DatasetSelect label="Dataset, by name or handle" value={datasetId} onChange={setDatasetId} />
      )}
      <Fields
        form={form}
        fields={[
          ...(into === 'new' ? [{ name: 'name', label: 'Name', required: true, maxLength: 255 }] : []),
          MESSAGE_FIELD,
        ]}
      />
    </FormDialog>
  );
}

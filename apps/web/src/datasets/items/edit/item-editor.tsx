import { Alert, Box, SegmentedControl, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../../api/api.ts';
import { readJson } from '../../../runs/create/config-values.ts';
import { type Field, Fields, fieldErrors } from '../../../ui/form/fields.tsx';
import { FormBody, LeaveDialog } from '../../../ui/form/form-dialog.tsx';
import { objectIn, textIn } from '../../../ui/pointer-of.ts';
import { ErrorView } from '../../../ui/query-state.tsx';
import { JsonText } from '../../../ui/text/copy-action.tsx';
import { Refusal } from '../../../ui/text/dimmed.ts';
import { prettyJson, textOrJson } from '../../../ui/text/formats.ts';
import { MESSAGE_FIELD, useChange } from '../../queries.ts';
import { ChangeError, editItems } from '../../versions/change-dialog.tsx';
import { inputOf, without } from '../item-reading.ts';
import { type Dataset, type ListedItem, positionIn, type VersionOf } from '../item-windows.ts';

export function ItemEditor(props: {
  readonly dataset: Dataset;
  readonly listed: ListedItem;
  readonly onClose: () => void;
}) {
  const { dataset, listed, onClose } = props;
  const [opened] = useState(dataset);
  const change = useChange();
  const [item, setItem] = useState(listed.item as JsonObject);
  const hasChanged = dataset.version !== opened.version;
  const found = useCurrentItem(dataset, hasChanged ? listed : undefined);
  const current = hasChanged ? found.data : listed;
  const form = useForm<ItemForm>({
    initialValues: { view: 'fields', ...textsOf(item), message: '' },
  });
  const { values } = form;
  const fields = values.view === 'json' ? JSON_FIELDS : fieldsOf(item);
  const isTyped = TEXTS.some((name) => form.isDirty(name));

  /** The item as typed; null if a text is marked as wrong. */
  const typed = (): JsonObject | null => {
    try {
      return editedItem(item, values);
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      form.setFieldError(error.field, error.message);
      return null;
    }
  };
  const show = (view: string): void => {
    const edited = typed();
    if (edited === null) return;
    setItem(edited);
    form.setValues({ ...textsOf(edited), view: view === 'json' ? 'json' : 'fields' });
  };
  const save = async (): Promise<void> => {
    const edited = typed();
    if (edited === null || current == null) throw new Refused();
    const edit = { item_hash: current.item_hash, section: current.section, item: edited };
    try {
      await change(editItems(dataset, [edit], values.message), positionIn(dataset, current));
    } catch (error) {
      const errors = fieldErrors(error, fields);
      form.setErrors(errors);
      throw Object.keys(errors).length === 0 ? error : new Refused();
    }
  };
  return (
    <Box p="md" role="group" aria-label="Edit the item">
      <FormBody
        action="Save as a new version"
        isReady={current != null}
        submit={save}
        onClose={onClose}
        showError={(error) =>
          error instanceof Refused ? (
            <Refusal>The item was not saved: see the marked fields.</Refusal>
          ) : (
            <ChangeError dataset={dataset} error={error} />
          )
        }
      >
        <SegmentedControl
          size="xs"
          w="fit-content"
          aria-label="What is edited"
          value={values.view}
          onChange={show}
          data={[
            { value: 'fields', label: 'Fields' },
            { value: 'json', label: 'Whole JSON' },
          ]}
        />
        <Fields form={form} fields={[...fields, MESSAGE_FIELD]} />
        {found.error !== null && <ErrorView error={found.error} onRetry={() => void found.refetch()} />}
        {current !== undefined && current?.item_hash !== listed.item_hash && <ItemNow now={current} />}
      </FormBody>
      {isTyped && (
        <LeaveDialog
          text="The item is not saved yet. If you leave it, what you typed is lost."
          parameters={['item', 'tab', 'version']}
          onLeave={onClose}
        />
      )}
    </Box>
  );
}

const TEXTS = ['prompt', 'answer', 'meta', 'json', 'message'] as const;

/** What is wrong is shown at the fields. */
class Refused extends Error {}

const ITEM = '/edits/0/item';

const JSON_FIELDS: readonly Field<ItemForm>[] = [
  { name: 'json', label: 'Item', kind: 'code', pointer: ITEM, isFirst: true },
];

function fieldsOf(item: JsonObject): readonly Field<ItemForm>[] {
  return [
    ...(hasPromptField(item)
      ? [{ name: 'prompt', label: 'Prompt', kind: 'lines', pointer: `${ITEM}/inputs` } as const]
      : []),
    isJsonAnswer(item)
      ? { name: 'answer', label: 'Answer, as JSON', kind: 'code', pointer: `${ITEM}/answer` }
      : { name: 'answer', label: 'Answer', kind: 'lines', pointer: `${ITEM}/answer` },
    { name: 'meta', label: 'Metadata, as JSON', kind: 'code', pointer: `${ITEM}/meta` },
  ];
}

function ItemNow({ now }: { readonly now: ListedItem | null }) {
  return now === null ? (
    <Alert color="orange" title="The item is not here any more">
      <Text size="sm">
        It was changed or removed in the meantime. What you typed cannot be saved as a change of it, but stays
        here to be copied.
      </Text>
    </Alert>
  ) : (
    <Alert color="orange" title="The item itself was changed in the meantime">
      <Text size="sm" mb="xs">
        What you typed stays. Saving it replaces the item, which is now:
      </Text>
      <JsonText value={now.item as JsonValue} label="the item as it is now" />
    </Alert>
  );
}

/** An item of another version as a version has it: the same, or changed under its id; null if it is gone. */
export function useCurrentItem({ id, version }: VersionOf, listed: ListedItem | undefined) {
  const { item_hash = '', section, item = null } = listed ?? {};
  return useQuery({
    queryKey: ['current-item', { id, version }, { item_hash, section }],
    queryFn: async ({ signal }) => {
      const find = async (by: { readonly item_hash: string } | { readonly item_id: string }) => {
        const query = { ...by, section, version: String(version), assets: 'link' as const, limit: 3 };
        return (await get('/datasets/{id}/items', { path: { id }, query }, signal)).data;
      };
      const [same] = await find({ item_hash });
      const itemId = idOf(item);
      if (same !== undefined || itemId === null) return same ?? null;
      // `1` and `"1"` are two ids
      const found = (await find({ item_id: textOrJson(itemId) })).filter(
        (one) => canonicalJson(idOf(one.item)) === canonicalJson(itemId),
      );
      return found.length === 1 ? (found[0] ?? null) : null;
    },
    enabled: listed !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

const idOf = (item: ListedItem['item']): JsonValue => getMember((item ?? {}) as JsonObject, 'id') ?? null;

type ItemForm = ReturnType<typeof textsOf> & { readonly view: 'fields' | 'json'; readonly message: string };

class FieldProblem extends Error {
  override readonly name = 'FieldProblem';
  readonly field: keyof ItemForm;

  constructor(field: keyof ItemForm, message: string) {
    super(message);
    this.field = field;
  }
}

/** Whether the item has a prompt that a field can hold; a conversation is edited as JSON. */
const hasPromptField = (item: JsonObject): boolean =>
  typeof inputOf(item, 'prompt') === 'string' || inputOf(item, 'messages') === undefined;

function isJsonAnswer(item: JsonObject): boolean {
  const answer = getMember(item, 'answer');
  return answer !== undefined && typeof answer !== 'string';
}

function textsOf(item: JsonObject) {
  return {
    prompt: textIn(objectIn(item, 'inputs'), 'prompt') ?? '',
    answer: textOrJson(getMember(item, 'answer')),
    meta: prettyJson(getMember(item, 'meta')),
    json: prettyJson(item),
  };
}

/** The item that the fields describe: what has no field stays as it is. @throws FieldProblem */
function editedItem(item: JsonObject, form: ItemForm): JsonObject {
  if (form.view === 'json') {
    const whole = readMember('json', form.json);
    if (!isJsonObject(whole)) throw new FieldProblem('json', 'An item must be a JSON object.');
    return whole;
  }
  const before = textsOf(item);
  let edited = item;
  if (form.prompt !== before.prompt)
    edited = { ...edited, inputs: { ...objectIn(item, 'inputs'), prompt: form.prompt } };
  if (form.answer !== before.answer)
    edited = isJsonAnswer(item)
      ? withMember(edited, 'answer', readMember('answer', form.answer))
      : { ...edited, answer: form.answer };
  if (form.meta !== before.meta) edited = withMember(edited, 'meta', readMember('meta', form.meta));
  return edited;
}

const withMember = (object: JsonObject, name: string, value: JsonValue | undefined): JsonObject =>
  value === undefined ? without(object, [name]) : { ...object, [name]: value };

/** The value of a JSON text; undefined for an empty one. @throws FieldProblem */
function readMember(field: keyof ItemForm, text: string): JsonValue | undefined {
  if (text.trim() === '') return undefined;
  const { value, problem } = readJson(text);
  if (problem !== null) throw new FieldProblem(field, problem);
  return value;
}

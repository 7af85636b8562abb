import { JsonlError } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { prettyJson, textOrJson } from '../../../ui/text/formats.ts';
import { inputOf, without } from '../item-reading.ts';

/** What is typed in the fields of an item. */
export interface ItemForm {
  readonly view: 'fields' | 'json';
  readonly prompt: string;
  readonly answer: string;
  readonly meta: string;
  readonly json: string;
  readonly message: string;
}

/** A text that is not what its field needs. */
export class FieldProblem extends Error {
  override readonly name = 'FieldProblem';
  readonly field: keyof ItemForm;

  constructor(field: keyof ItemForm, message: string) {
    super(message);
    this.field = field;
  }
}

/** Whether the item has a prompt that a field can hold; a conversation is edited as JSON. */
export const hasPromptField = (item: JsonObject): boolean =>
  typeof inputOf(item, 'prompt') === 'string' || inputOf(item, 'messages') === undefined;

/** Whether the answer is edited as JSON: it is not a text. */
export function isJsonAnswer(item: JsonObject): boolean {
  const answer = getMember(item, 'answer');
  return answer !== undefined && typeof answer !== 'string';
}

/** The texts of an item, for the fields. */
export function textsOf(item: JsonObject): Pick<ItemForm, 'prompt' | 'answer' | 'meta' | 'json'> {
  const prompt = inputOf(item, 'prompt');
  const answer = getMember(item, 'answer');
  return {
    prompt: typeof prompt === 'string' ? prompt : '',
    answer: textOrJson(answer),
    meta: prettyJson(getMember(item, 'meta')),
    json: prettyJson(item),
  };
}

/**
 * The item that the fields describe.
 *
 * @param item before: what has no field stays as it is
 * @throws FieldProblem
 */
export function editedItem(item: JsonObject, form: ItemForm): JsonObject {
  if (form.view === 'json') {
    const whole = readJson('json', form.json);
    if (!isJsonObject(whole)) throw new FieldProblem('json', 'An item must be a JSON object.');
    return whole;
  }
  const before = textsOf(item);
  let edited = item;
  if (form.prompt !== before.prompt) {
    const inputs = getMember(item, 'inputs');
    edited = { ...edited, inputs: { ...(isJsonObject(inputs) ? inputs : {}), prompt: form.prompt } };
  }
  if (form.answer !== before.answer)
    edited = isJsonAnswer(item)
      ? withMember(edited, 'answer', readJson('answer', form.answer))
      : { ...edited, answer: form.answer };
  if (form.meta !== before.meta) edited = withMember(edited, 'meta', readJson('meta', form.meta));
  return edited;
}

/** The object with a member; without it where the value is undefined. */
const withMember = (object: JsonObject, name: string, value: JsonValue | undefined): JsonObject =>
  value === undefined ? without(object, [name]) : { ...object, [name]: value };

/** The value of a JSON text; undefined for an empty one. @throws FieldProblem */
function readJson(field: keyof ItemForm, text: string): JsonValue | undefined {
  if (text.trim() === '') return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonlError) throw new FieldProblem(field, error.message);
    throw error;
  }
}

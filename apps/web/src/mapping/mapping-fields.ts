import { CHECKERS, type Paths } from '@svc/client';

/** A mapping from columns to items, as the API takes it. */
export type Mapping = Exclude<
  Paths['/datasets/hub/import']['post']['requestBody']['content']['application/json']['mapping'],
  { prompt_column: string } | { prompt_template: string }
>;

/** A mapping that is being made: any of its keys may still be absent. */
export type MappingDraft = Partial<Mapping>;

/** How a key of the mapping is edited. */
type FieldKind = 'column' | 'columns' | 'named-columns' | 'text' | 'texts' | 'choice' | 'column-types';

export interface MappingField {
  readonly key: keyof Mapping;
  readonly label: string;
  readonly hint: string;
  readonly kind: FieldKind;
  /** The values of a `choice`. */
  readonly values?: readonly string[];
  /** Shown only among the further fields. */
  readonly isRare?: boolean;
}

/** The types of items that the format defines. */
export const ITEM_TYPES: readonly string[] = ['freeform', 'multiple_choice', 'exact', 'numeric', 'code'];

/** What a column can be read as. */
export const COLUMN_TYPES: readonly string[] = ['string', 'int64', 'float64', 'bool', 'json'];

/** What an editor offers, in this order. */
export const MAPPING_FIELDS: readonly MappingField[] = [
  { key: 'prompt_column', label: 'Prompt', hint: 'What the model is given.', kind: 'column' },
  {
    key: 'prompt_template',
    label: 'Prompt from a template',
    hint: 'Text with {column} in it, instead of one column.',
    kind: 'text',
    isRare: true,
  },
  { key: 'answer_column', label: 'Answer', hint: 'What is expected.', kind: 'column' },
  { key: 'choices_column', label: 'Choices', hint: 'A column that holds all options.', kind: 'column' },
  {
    key: 'choices_columns',
    label: 'Choices, a column each',
    hint: 'Columns that hold one option each.',
    kind: 'columns',
  },
  {
    key: 'answer_is',
    label: 'The answer is',
    hint: 'How the answer names a choice: indexes count from 0, numbers from 1.',
    kind: 'choice',
    values: ['text', 'index', 'letter', 'label', 'number'],
  },
  {
    key: 'default_type',
    label: 'Type of item',
    hint: 'Decides how outputs are scored. Without one, a run needs a checker.',
    kind: 'choice',
    values: ITEM_TYPES,
  },
  {
    key: 'answer_pattern',
    label: 'Pattern in the answer',
    hint: 'The first group is the answer, as in ####\\s*(\\S+).',
    kind: 'text',
    isRare: true,
  },
  { key: 'system_prompt_column', label: 'System prompt', hint: '', kind: 'column', isRare: true },
  {
    key: 'system_prompt_template',
    label: 'System prompt from a template',
    hint: 'Text with {column} in it.',
    kind: 'text',
    isRare: true,
  },
  {
    key: 'id_column',
    label: 'Id',
    hint: 'By default the split and the number of the row.',
    kind: 'column',
    isRare: true,
  },
  { key: 'type_column', label: 'Type from a column', hint: '', kind: 'column', isRare: true },
  {
    key: 'checker_column',
    label: 'Checker from a column',
    hint: 'Objects, also as JSON, or names of checkers.',
    kind: 'column',
    isRare: true,
  },
  {
    key: 'tags_columns',
    label: 'Tags',
    hint: 'Columns whose values become tags.',
    kind: 'columns',
    isRare: true,
  },
  {
    key: 'tags',
    label: 'Tags of every item',
    hint: 'Press Enter after each.',
    kind: 'texts',
    isRare: true,
  },
  {
    key: 'meta_columns',
    label: 'Metadata',
    hint: 'Columns to keep with each item.',
    kind: 'named-columns',
    isRare: true,
  },
  {
    key: 'criteria_columns',
    label: 'Criteria',
    hint: 'What a judge looks for.',
    kind: 'columns',
    isRare: true,
  },
  {
    key: 'assets_column',
    label: 'Files',
    hint: 'A column with images or other files.',
    kind: 'column',
    isRare: true,
  },
  {
    key: 'checker',
    label: 'Checker of every item',
    hint: 'By default, the type of the item decides.',
    kind: 'choice',
    values: CHECKERS.map(({ name }) => name),
    isRare: true,
  },
  {
    key: 'invalid_rows',
    label: 'Invalid rows',
    hint: 'Stop at the first one, or leave them out.',
    kind: 'choice',
    values: ['fail', 'skip'],
    isRare: true,
  },
  {
    key: 'types',
    label: 'Types of columns',
    hint: 'Instead of the types that were found.',
    kind: 'column-types',
    isRare: true,
  },
];

/** What to do where a mapping is not complete. */
export const MISSING_PROMPT = 'Choose the column of the prompt.';

/** The mapping to send; null while it has no prompt. A template takes the place of its column. */
export function completeMapping(draft: MappingDraft): Mapping | null {
  const {
    prompt_column: prompt,
    system_prompt_column: system,
    ...rest
  } = Object.fromEntries(Object.entries(draft).filter(([, value]) => isStated(value))) as MappingDraft;
  if (!prompt && !rest.prompt_template) return null;
  return {
    ...(rest.prompt_template ? {} : { prompt_column: prompt }),
    ...(rest.system_prompt_template || !system ? {} : { system_prompt_column: system }),
    ...rest,
  } as Mapping;
}

function isStated(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

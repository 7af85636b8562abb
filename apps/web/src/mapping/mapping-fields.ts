import { CHECKERS, type Paths } from '@svc/client';

export type Mapping = Exclude<
  Paths['/datasets/hub/import']['post']['requestBody']['content']['application/json']['mapping'],
  { prompt_column: string } | { prompt_template: string }
>;

export type MappingDraft = Partial<Mapping>;

type FieldKind = 'column' | 'columns' | 'named-columns' | 'text' | 'texts' | 'choice' | 'column-types';

export interface MappingField {
  readonly key: keyof Mapping;
  readonly label: string;
  readonly hint: string;
  readonly kind: FieldKind;
  readonly values: readonly string[];
  readonly isRare: boolean;
}

export const ITEM_TYPES: readonly string[] = ['freeform', 'multiple_choice', 'exact', 'numeric', 'code'];

export const COLUMN_TYPES: readonly string[] = ['string', 'int64', 'float64', 'bool', 'json'];

const field = (
  key: keyof Mapping,
  kind: FieldKind,
  label: string,
  hint: string,
  values: readonly string[] = [],
): MappingField => ({ key, kind, label, hint, values, isRare: false });

const rare = (...of: Parameters<typeof field>): MappingField => ({ ...field(...of), isRare: true });

export const MAPPING_FIELDS: readonly MappingField[] = [
  field('prompt_column', 'column', 'Prompt', 'What the model is given.'),
  rare(
    'prompt_template',
    'text',
    'Prompt from a template',
    'Text with {column} in it, instead of one column.',
  ),
  field('answer_column', 'column', 'Answer', 'What is expected.'),
  field('choices_column', 'column', 'Choices', 'A column that holds all options.'),
  field('choices_columns', 'columns', 'Choices, a column each', 'Columns that hold one option each.'),
  field(
    'answer_is',
    'choice',
    'The answer is',
    'How the answer names a choice: indexes count from 0, numbers from 1.',
    ['text', 'index', 'letter', 'label', 'number'],
  ),
  field(
    'default_type',
    'choice',
    'Type of item',
    'Decides how outputs are scored. Without one, a run needs a checker.',
    ITEM_TYPES,
  ),
  rare(
    'answer_pattern',
    'text',
    'Pattern in the answer',
    'The first group is the answer, as in ####\\s*(\\S+).',
  ),
  rare('system_prompt_column', 'column', 'System prompt', ''),
  rare('system_prompt_template', 'text', 'System prompt from a template', 'Text with {column} in it.'),
  rare('id_column', 'column', 'Id', 'By default the split and the number of the row.'),
  rare('type_column', 'column', 'Type from a column', ''),
  rare('checker_column', 'column', 'Checker from a column', 'Objects, also as JSON, or names of checkers.'),
  rare('tags_columns', 'columns', 'Tags', 'Columns whose values become tags.'),
  rare('tags', 'texts', 'Tags of every item', 'Press Enter after each.'),
  rare('meta_columns', 'named-columns', 'Metadata', 'Columns to keep with each item.'),
  rare('criteria_columns', 'columns', 'Criteria', 'What a judge looks for.'),
  rare('assets_column', 'column', 'Files', 'A column with images or other files.'),
  rare(
    'checker',
    'choice',
    'Checker of every item',
    'By default, the type of the item decides.',
    CHECKERS.map(({ name }) => name),
  ),
  rare('invalid_rows', 'choice', 'Invalid rows', 'Stop at the first one, or leave them out.', [
    'fail',
    'skip',
  ]),
  rare('types', 'column-types', 'Types of columns', 'Instead of the types that were found.'),
];

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

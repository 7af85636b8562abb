import type { JsonSchema } from '../item/item.ts';

import { ANSWER_KINDS } from './mapping.ts';
import { MAX_TEMPLATE_LENGTH } from './template.ts';

/** A longer pattern is probably a mistake or an attack. */
export const MAX_PATTERN_LENGTH = 500;

const MAX_COLUMNS = 1000;

const text = (maxLength: number, description: string): JsonSchema => ({
  type: ['string', 'null'],
  minLength: 1,
  maxLength,
  description,
});
const column = (description: string): JsonSchema => text(1024, description);
const texts = (description: string): JsonSchema => ({
  type: ['array', 'null'],
  items: { type: 'string', minLength: 1 },
  maxItems: MAX_COLUMNS,
  uniqueItems: true,
  description,
});

const hasText = (key: string): JsonSchema => ({
  type: 'object',
  properties: { [key]: { type: 'string' } },
  required: [key],
});

/** The JSON Schema (2020-12) of a mapping as requests and files have it; null means absent. */
export const MAPPING_SCHEMA: JsonSchema = {
  type: 'object',
  description:
    'which column becomes which part of an item; one of prompt_column and prompt_template is required; a column is in at most 20 places, and what every item gets alike (checker, tags, default_type, the texts of templates, keys of meta) has at most 64 KiB together',
  properties: {
    prompt_column: column('becomes the prompt; a list of {role, content} becomes the messages'),
    prompt_template: text(MAX_TEMPLATE_LENGTH, 'text with {column} placeholders; {{ is a brace'),
    answer_column: column('becomes the answer'),
    answer_pattern: text(
      MAX_PATTERN_LENGTH,
      'its first group is taken from the answer’s text; a row that does not match is invalid',
    ),
    answer_is: {
      type: ['string', 'null'],
      enum: [...Object.keys(ANSWER_KINDS), null],
      description: `what the answer is; all but \`text\` must name a choice, whose text becomes the answer: ${Object.entries(
        ANSWER_KINDS,
      )
        .map(([kind, meaning]) => `\`${kind}\`, ${meaning}`)
        .join('; ')}`,
    },
    default_type: text(1024, 'the type of every item; `freeform` where it is absent'),
    type_column: column('has the items’ types'),
    meta_columns: {
      description: 'key in `meta` → column; an array of columns means keys of the same names',
      anyOf: [
        {
          type: 'object',
          additionalProperties: { type: 'string', minLength: 1 },
          maxProperties: MAX_COLUMNS,
        },
        texts('columns'),
      ],
    },
    criteria_columns: texts('become the criteria, in this order'),
    choices_column: column(
      'becomes the choices: an array, an object of labels and texts or of parallel arrays, or a text that is one of them',
    ),
    choices_columns: texts('become one choice each'),
    assets_column: column('becomes the assets'),
    system_prompt_column: column('becomes the system prompt'),
    system_prompt_template: text(MAX_TEMPLATE_LENGTH, 'as prompt_template'),
    id_column: column('becomes the id; without it the id is <split or section>-<row index>'),
    tags_columns: texts('their values become tags'),
    checker: {
      type: ['object', 'string', 'null'],
      description: 'how the output of every item is scored',
    },
    checker_column: column('has the items’ checkers: objects, also as JSON, or names of checkers'),
    keep_unmapped: {
      type: ['boolean', 'null'],
      description: 'whether the columns that no other key names are kept in `meta`, under their names',
    },
    tags: texts('tags of every item'),
    types: {
      type: ['object', 'null'],
      additionalProperties: { type: 'string', enum: ['string', 'int64', 'float64', 'bool', 'json'] },
      maxProperties: MAX_COLUMNS,
      description: 'column → type, which overrides inference; a value that does not fit is an invalid row',
    },
    invalid_rows: {
      type: ['string', 'null'],
      enum: ['fail', 'skip', null],
      description: '`skip` leaves out the rows that do not become items, and counts them',
    },
  },
  anyOf: [hasText('prompt_column'), hasText('prompt_template')],
  additionalProperties: false,
};

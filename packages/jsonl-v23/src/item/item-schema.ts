/** A JSON Schema, as data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema (2020-12) of an item. No key is required, every other key is allowed at any depth; the known
 * ones have these types. `parseItem` checks by it.
 */
export const ITEM_SCHEMA: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'JSONL v2.3 item',
  type: 'object',
  properties: {
    id: { type: ['string', 'integer'], description: "The author's id; need not be unique." },
    type: {
      type: 'string',
      description:
        'freeform (assumed when absent), multiple_choice, exact, numeric, code; others are allowed.',
    },
    inputs: {
      type: 'object',
      description: 'What the model is given.',
      properties: {
        prompt: { type: 'string' },
        messages: {
          type: 'array',
          description: 'A conversation instead of one prompt.',
          items: {
            type: 'object',
            properties: { role: { type: 'string' }, content: true },
            required: ['role', 'content'],
          },
        },
        system_prompt: { type: ['string', 'null'] },
        choices: { type: 'array', description: 'The options of a multiple-choice item.' },
      },
    },
    answer: { description: 'The reference answer: any JSON.' },
    criteria: {
      type: 'array',
      description: 'What a grader looks for.',
      items: { type: ['string', 'object'] },
    },
    checker: { type: ['object', 'string', 'null'], description: 'How the output is scored.' },
    assets: {
      type: ['object', 'array'],
      description: 'Files and links that belong to the item: entries by name, or a list of entries.',
    },
    meta: {
      type: 'object',
      description: 'Everything else.',
      properties: { judge_prompt: { type: ['string', 'null'] } },
    },
    tags: { type: 'array', items: { type: 'string' } },
  },
};

import { CHECKER_DOCS } from '../checkers/checkers.ts';
import type { ConfigSchema } from '../checkers/declaration.ts';

/** A checker with its options: one schema for each `checker.type`, with an example as `x-example`. */
export const CHECKER_SCHEMAS: ReadonlyMap<string, ConfigSchema> = new Map(
  CHECKER_DOCS.map(({ name, passes, example, options }) => [
    name,
    {
      type: 'object',
      description: `passes when ${passes}`,
      'x-example': example,
      properties: { type: { type: 'string', const: name }, ...options },
      required: ['type'],
    },
  ]),
);

/** The name of a checker without options. */
export const CHECKER_NAME_SCHEMA: ConfigSchema = {
  type: 'string',
  enum: [...CHECKER_SCHEMAS.keys()],
  description: 'a checker without options',
};

/** A checker with options. */
export const CHECKER_OPTIONS_SCHEMA: ConfigSchema = {
  description: 'a checker with options, which `type` selects',
  oneOf: [...CHECKER_SCHEMAS.values()],
  discriminator: { propertyName: 'type' },
};

/** A checker that the run states. */
export const CHECKER_SCHEMA: ConfigSchema = {
  description:
    'a checker as items have it, such as `numeric` or `{"type": "regex", "pattern": "^4"}`: for items without one, or with `checker_mode: override` for all',
  oneOf: [CHECKER_NAME_SCHEMA, CHECKER_OPTIONS_SCHEMA],
};

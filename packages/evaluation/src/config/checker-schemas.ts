/** A JSON Schema for OpenAPI 3.1. `x-rule` says a `pattern` in words, for errors. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

const option = (type: string, description: string, more: ConfigSchema = {}): ConfigSchema => {
  return { type: [type, 'null'], description, ...more };
};
const ignoreCase = option('boolean', 'whether letters of either case are equal', { default: false });

const checkerOf = (
  type: string,
  description: string,
  options: Readonly<Record<string, ConfigSchema>> = {},
): ConfigSchema => {
  return {
    type: 'object',
    description,
    properties: { type: { type: 'string', const: type }, ...options },
    required: ['type'],
  };
};

/** A checker with its options: one schema per `type`. The checkers themselves validate the options. */
export const CHECKER_SCHEMAS: Readonly<
  Record<'exact_match' | 'includes' | 'regex' | 'numeric' | 'choice' | 'json_equal' | 'judge', ConfigSchema>
> = {
  exact_match: checkerOf('exact_match', 'passes when the output equals the answer, or one of a list', {
    ignore_case: ignoreCase,
    trim: option('boolean', 'whether blanks around both are ignored', { default: true }),
  }),
  includes: checkerOf('includes', 'passes when the output contains the answer, or one of a list', {
    ignore_case: ignoreCase,
    all: option('boolean', 'whether it must contain every answer of the list', { default: false }),
  }),
  regex: checkerOf('regex', 'passes when the pattern matches anywhere in the output', {
    pattern: option('string', 'by default the answer'),
    flags: option('string', '`i`, `m`, `s` and `u`'),
    full_match: option('boolean', 'whether the pattern must match the whole output', { default: false }),
  }),
  numeric: checkerOf(
    'numeric',
    'passes when the last number in the output is within the tolerance of the answer',
    { tolerance: option('number', 'how far off it may be', { minimum: 0, default: 0 }) },
  ),
  choice: checkerOf('choice', 'passes when the output picks the choice that is the answer'),
  json_equal: checkerOf('json_equal', 'passes when the output is the same JSON value as the answer'),
  judge: checkerOf('judge', 'asks the judge of the run', {
    judge_prompt: option('string', 'where `meta.judge_prompt` is absent'),
  }),
};

/** The name of a checker without options. */
export const CHECKER_NAME_SCHEMA: ConfigSchema = {
  type: 'string',
  enum: Object.keys(CHECKER_SCHEMAS),
  description: 'a checker without options',
};

/** A checker with options. */
export const CHECKER_OPTIONS_SCHEMA: ConfigSchema = {
  description: 'a checker with options, which `type` selects',
  oneOf: Object.values(CHECKER_SCHEMAS),
  discriminator: { propertyName: 'type' },
};

/** A checker that the run states. */
export const CHECKER_SCHEMA: ConfigSchema = {
  description:
    'a checker as items have it, such as `numeric` or `{"type": "regex", "pattern": "^4"}`: for items without one, or with `checker_mode: override` for all',
  oneOf: [CHECKER_NAME_SCHEMA, CHECKER_OPTIONS_SCHEMA],
};

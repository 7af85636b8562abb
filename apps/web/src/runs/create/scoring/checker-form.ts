import { CHECKERS, type CheckerOption } from '@svc/client';
import type { Field } from '../../../ui/form/fields.tsx';
import { type Config, numberOf, objectOf, stated, type Typed } from '../config-members.ts';

/** Options of checkers while they are chosen, by their names; those of one name share a value. */
export type OptionValues = Readonly<Record<string, Typed | boolean>>;

/** A checker while it is chosen. */
export interface CheckerForm {
  /** Null: by the type of the item. */
  readonly type: string | null;
  readonly options: OptionValues;
}

const emptyOf = ({ type, default: byDefault }: CheckerOption): Typed | boolean =>
  type.includes('boolean') ? byDefault === true : '';

const NO_OPTIONS: OptionValues = Object.fromEntries(
  CHECKERS.flatMap(({ options }) => Object.entries(options).map(([name, schema]) => [name, emptyOf(schema)])),
);

export const EMPTY_CHECKER: CheckerForm = { type: null, options: NO_OPTIONS };

/** The checkers of the service, each with an example. */
export const CHECKER_CHOICES: readonly { readonly value: string; readonly label: string }[] = CHECKERS.map(
  ({ name, example }) => ({ value: name, label: `${name}: ${example}` }),
);

const optionsOf = (type: string | null): CheckerOptions =>
  CHECKERS.find(({ name }) => name === type)?.options ?? {};
type CheckerOptions = (typeof CHECKERS)[number]['options'];

/** A checker as the API takes it; undefined where none is chosen. Options that the service does not list stay those of the copied one. */
export function checkerOf({ type, options }: CheckerForm, copied: Config = {}): object | undefined {
  if (type === null) return undefined;
  const before = readChecker(copied['checker']);
  const own = Object.entries(optionsOf(type)).map(([name, schema]) => [
    name,
    optionValue(options[name], schema),
  ]);
  return stated({ ...(before['type'] === type ? before : {}), type, ...Object.fromEntries(own) });
}

function optionValue(value: Typed | boolean | undefined, schema: CheckerOption): unknown {
  if (value === undefined || value === null || value === '' || value === emptyOf(schema)) return undefined;
  return schema.type.includes('number') ? numberOf(value as Typed) : value;
}

/** The form of a checker that a configuration has. */
export function checkerFormOf(checker: unknown): CheckerForm {
  const { type, ...options } = readChecker(checker);
  const known = Object.entries(options).flatMap(([name, value]) => {
    if (!Object.hasOwn(NO_OPTIONS, name) || value === null || value === undefined) return [];
    // an exact number as text, which has every digit
    return [[name, typeof value === 'object' ? String(value) : (value as Typed | boolean)]];
  });
  return {
    type: typeof type === 'string' ? type : null,
    options: { ...NO_OPTIONS, ...Object.fromEntries(known) },
  };
}

/** A checker of a configuration, which may be the name alone. */
const readChecker = (checker: unknown): Config =>
  typeof checker === 'string' ? { type: checker } : objectOf(checker);

/**
 * The fields of all options, each shown for its checker.
 *
 * @param path of the options in the form
 * @param pointer of the checker in the request
 * @param typeOf the checker that is chosen
 */
export const optionFields = <Values>(
  path: string,
  pointer: string,
  typeOf: (values: Values) => string | null,
): readonly Field<Values>[] =>
  Object.keys(NO_OPTIONS).flatMap((name) =>
    CHECKERS.filter(({ options }) => Object.hasOwn(options, name)).map((checker): Field<Values> => {
      const schema = checker.options[name] as CheckerOption;
      const values = schema.enum?.filter((value) => value !== null);
      return {
        name: `${path}.${name}`,
        label: labelOf(name),
        description: labelOf(schema.description.replaceAll('`', '')),
        pointer: `${pointer}/${name}`,
        isShown: (form) => typeOf(form) === checker.name,
        ...(schema.type.includes('boolean') && { kind: 'checkbox' }),
        ...(schema.type.includes('number') && { kind: 'decimal' }),
        ...(schema.minimum !== undefined && { min: schema.minimum }),
        ...(values !== undefined && {
          kind: 'select',
          data: values,
          isOptional: true,
          placeholder: String(schema.default ?? ''),
        }),
      };
    }),
  );

/** `ignore_case` as `Ignore case`. */
const labelOf = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).replaceAll('_', ' ');

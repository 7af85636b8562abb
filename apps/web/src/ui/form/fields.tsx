import {
  Autocomplete,
  Checkbox,
  Collapse,
  NumberInput,
  Select,
  SimpleGrid,
  type SimpleGridProps,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { ChangeEvent, ReactNode } from 'react';
import { ApiProblem } from '../../api/api.ts';
import { SmallButton } from '../buttons.tsx';

/** A field of a form: where its value is, and how it is edited. */
export interface Field<Values = unknown> {
  /** Path of the value, such as `model.baseUrl`. */
  readonly name: string;
  readonly label: string;
  /** By default a text in one line. */
  readonly kind?:
    | 'text'
    | 'lines'
    | 'code'
    | 'number'
    | 'decimal'
    | 'select'
    | 'tags'
    | 'switch'
    | 'checkbox';
  readonly description?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly maxLength?: number;
  /** The values of a `select`, and suggestions for texts and tags. */
  readonly data?: readonly (string | { readonly value: string; readonly label: string })[];
  /** Whether a `select` may be empty. */
  readonly isOptional?: boolean;
  readonly isFirst?: boolean;
  /** JSON Pointer into the request, under which the service reports an error of the field. */
  readonly pointer?: string;
  /** What a text must be: JSON, or on each line a name and a value with this between them. */
  readonly reads?: 'json' | '=' | ':';
  /** The value of a number is so many times what is shown. */
  readonly unit?: number;
  /** The text that a switch or checkbox stands for while it is on, and one besides none while it is off. */
  readonly on?: string;
  readonly off?: string;
  /** Shown on request. */
  readonly isRare?: boolean;
  readonly isShown?: (values: Values) => boolean;
}

/** The fields of a form, described by a table. A field with an error says so below its input. */
export function Fields<Values extends object>(
  props: {
    readonly form: UseFormReturnType<Values>;
    readonly fields: readonly Field<NoInfer<Values>>[];
  } & Pick<SimpleGridProps, 'cols'>,
) {
  const { form, fields, ...rest } = props;
  const shown = fields.filter(({ isShown }) => isShown?.(form.values) ?? true);
  const rare = shown.filter(({ isRare }) => isRare);
  const grid = (some: typeof shown) => (
    <SimpleGrid cols={1} spacing="sm" verticalSpacing="sm" {...rest}>
      {some.map((field) => (
        <FieldInput key={field.name} form={form} field={field} />
      ))}
    </SimpleGrid>
  );
  return (
    <>
      {grid(shown.filter(({ isRare }) => isRare !== true))}
      {rare.length > 0 && (
        <More what="parameters" isForced={rare.some(({ name }) => form.errors[name] !== undefined)}>
          {grid(rare)}
        </More>
      )}
    </>
  );
}

const LINES = { autosize: true, minRows: 2, maxRows: 8 } as const;

function FieldInput<Values extends object>({
  form,
  field,
}: {
  readonly form: UseFormReturnType<Values>;
  readonly field: Field<Values>;
}) {
  const { name, kind = 'text', isShown, isOptional = false, isFirst, pointer, data, isRare, ...more } = field;
  const { reads, unit, on, off, ...rest } = more;
  const isMark = kind === 'switch' || kind === 'checkbox';
  const props = form.getInputProps(name as never, {
    type: isMark && on === undefined ? 'checkbox' : 'input',
  });
  const { value, onChange } = props as {
    readonly value: unknown;
    readonly onChange: (value: unknown) => void;
  };
  const input = {
    ...rest,
    ...props,
    ...(on !== undefined && {
      checked: value !== '' && value !== off,
      onChange: (event: ChangeEvent<HTMLInputElement>) => onChange(event.currentTarget.checked ? on : ''),
    }),
    ...(unit !== undefined && {
      value: typeof value === 'number' ? value / unit : value,
      // an unfinished number is a text
      onChange: (typed: unknown) => onChange(typeof typed === 'number' ? Math.round(typed * unit) : typed),
    }),
    ...(isFirst === true && { 'data-autofocus': true }),
  };
  const choices = [...(data ?? [])];
  switch (kind) {
    case 'switch':
      return <Switch {...input} />;
    case 'checkbox':
      return <Checkbox {...input} />;
    case 'lines':
      return <Textarea {...LINES} {...input} />;
    case 'code':
      return (
        <Textarea
          {...LINES}
          maxRows={20}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...input}
        />
      );
    case 'number':
    case 'decimal':
      return <NumberInput allowDecimal={kind === 'decimal'} {...input} />;
    case 'select':
      return <Select clearable={isOptional} {...input} data={choices} />;
    case 'tags':
      return <TagsInput {...input} data={choices} />;
    default:
      return data === undefined ? (
        <TextInput autoComplete="off" {...input} />
      ) : (
        <Autocomplete {...input} data={choices} />
      );
  }
}

/** Further fields below a button. They stay open while something in them is wrong. */
export function More(props: {
  /** What there is more of, such as "fields". */
  readonly what: string;
  readonly isForced?: boolean;
  readonly children: ReactNode;
}) {
  const { what, isForced = false, children } = props;
  const [isWanted, { toggle }] = useDisclosure(false);
  const isOpen = isWanted || isForced;
  return (
    <>
      <SmallButton
        label={isOpen ? `Fewer ${what}` : `More ${what}`}
        variant="subtle"
        size="compact-sm"
        px={0}
        w="fit-content"
        onClick={toggle}
        aria-expanded={isOpen}
      />
      <Collapse expanded={isOpen} transitionDuration={0}>
        {isOpen && children}
      </Collapse>
    </>
  );
}

/** The errors of a response by the field that each is about; what is about no field is left out. */
export function fieldErrors(
  error: unknown,
  fields: readonly Pick<Field, 'name' | 'pointer'>[],
): Record<string, string> {
  const errors = error instanceof ApiProblem ? (error.problem.errors ?? []) : [];
  return Object.fromEntries(
    errors.flatMap(({ path, message }) => {
      const field = fields
        .filter(
          ({ pointer }) => pointer !== undefined && (path === pointer || path?.startsWith(`${pointer}/`)),
        )
        .sort((a, b) => (b.pointer?.length ?? 0) - (a.pointer?.length ?? 0))[0];
      return field === undefined ? [] : [[field.name, withoutPointer(message, path ?? '')]];
    }),
  );
}

/** A message of the service may begin with the pointer, or its end, which people do not know. */
function withoutPointer(message: string, path: string): string {
  const [start = ''] = message.split(' must ', 1);
  return start.startsWith('/') && path.endsWith(start) ? `This${message.slice(start.length)}` : message;
}

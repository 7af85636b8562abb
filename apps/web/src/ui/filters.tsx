import { Autocomplete, Button, Pill, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';
import { pointerName } from './pointer-of.ts';
import { metaFilters } from './search-params.ts';

/** The filters of a list, with a button that takes all of them away. */
export function Clearable(props: {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly children: ReactNode;
}) {
  const { isFiltered, onClear, children } = props;
  const [clears, setClears] = useState(0);
  const clear = (): void => {
    // new fields: what was typed a moment ago does not come back
    setClears(clears + 1);
    onClear();
  };
  return (
    <>
      <Fragment key={clears}>{children}</Fragment>
      {isFiltered && (
        <Button size="xs" variant="subtle" leftSection={<Icon name="x" size={14} />} onClick={clear}>
          Clear
        </Button>
      )}
    </>
  );
}

export function ChosenFilter<Value extends string>(props: {
  readonly label: string;
  readonly value: Value | undefined;
  /** With the text of each, where it is not the value itself. */
  readonly values: readonly (Value | { readonly value: Value; readonly label: string })[];
  readonly onChange: (value: Value | undefined) => void;
  /** Pixels. */
  readonly width?: number;
  readonly isSearchable?: boolean;
  /** Whether its list stays within a popover, which a click elsewhere closes. */
  readonly isWithin?: boolean;
}) {
  const { label, value, values, onChange, width = 150, isSearchable = false, isWithin = false } = props;
  return (
    <Select
      aria-label={label}
      placeholder={label}
      size="xs"
      w={width}
      clearable
      searchable={isSearchable}
      comboboxProps={{ withinPortal: !isWithin }}
      value={value ?? null}
      onChange={(next) => onChange((next as Value | null) ?? undefined)}
      data={values as readonly string[]}
    />
  );
}

const TYPING_MS = 300;

/** A filter that takes effect shortly after its text was typed. */
export function TypedFilter(props: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (text: string | undefined) => void;
  readonly isWide?: boolean;
  readonly suggestions?: readonly string[];
}) {
  const { label, value, onChange, isWide = false, suggestions } = props;
  const [text, setText] = useState(value ?? '');
  const sent = useRef(value);
  const send = useDebouncedCallback((typed: string) => {
    sent.current = typed === '' ? undefined : typed;
    onChange(sent.current);
  }, TYPING_MS);
  useEffect(() => {
    // what was typed since stays, unless something else than this field has changed the filter
    if (value === sent.current) return;
    sent.current = value;
    send.cancel();
    setText(value ?? '');
  }, [value, send]);
  const field = {
    'aria-label': label,
    placeholder: label,
    size: 'xs',
    // a wide one gives way to the others in its line
    ...(isWide ? { flex: '1 1 160px', maw: 240 } : { w: 120 }),
    value: text,
  } as const;
  const type = (typed: string): void => {
    setText(typed);
    send(typed);
  };
  return suggestions === undefined ? (
    <TextInput
      {...field}
      leftSection={isWide ? <Icon name="search" size={14} /> : undefined}
      onChange={(event) => type(event.currentTarget.value)}
    />
  ) : (
    <Autocomplete {...field} data={suggestions} limit={50} onChange={type} />
  );
}

/** A filter that an address states: the name of its parameter, and what it says. */
type StatedFilter = readonly [name: string, text: string];

/** The filters of the metadata, as pills say them. */
export const metaPills = (search: object): readonly StatedFilter[] =>
  metaFilters(search).map(([name, value]) => [name, `${pointerName(name.slice('meta.'.length))} = ${value}`]);

export function FilterPills(props: {
  readonly stated: readonly StatedFilter[];
  readonly onRemove: (name: string) => void;
}) {
  const { stated, onRemove } = props;
  return stated.map(([name, text]) => (
    <Pill
      key={name}
      size="md"
      withRemoveButton
      removeButtonProps={{ 'aria-label': `Remove the filter ${text}`, 'aria-hidden': false, tabIndex: 0 }}
      onRemove={() => onRemove(name)}
    >
      <span dir="auto">{text}</span>
    </Pill>
  ));
}

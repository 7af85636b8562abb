import { Button, Group, NumberInput, Popover, Select, SimpleGrid, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { SmallButton } from '../../ui/buttons.tsx';
import { ChosenFilter, Clearable, FilterPills, metaPills, TypedFilter } from '../../ui/filters.tsx';
import { pointerName } from '../../ui/pointer-of.ts';
import { type Run, scorersOf } from '../queries.ts';
import { RESULTS, type RunSearch } from '../runs-search.ts';

const FILTERS: Readonly<Record<string, (value: unknown) => string>> = {
  q: (value) => `has ${value}`,
  status: String,
  passed: (value) => (value === true ? 'right' : 'wrong'),
  min_score: (value) => `score from ${value}`,
  max_score: (value) => `score to ${value}`,
  min_latency: (value) => `latency from ${value} ms`,
  max_latency: (value) => `latency to ${value} ms`,
  min_output_tokens: (value) => `output tokens from ${value}`,
  max_output_tokens: (value) => `output tokens to ${value}`,
  min_cost: (value) => `cost from ${value}`,
  max_cost: (value) => `cost to ${value}`,
  got: (value) => `got ${value}`,
  expected: (value) => `expected ${value}`,
  section: (value) => `section ${value}`,
  type: (value) => `type ${value}`,
  tag: (value) => `tag ${value}`,
  finish_reason: (value) => `ended by ${value}`,
  output: (value) => `${value} output`,
  error: () => 'the same error',
  label: (value) => LABELS.find((one) => one.value === value)?.label ?? '',
  label_by: (value) => `label of ${value}`,
  label_type: (value) => `failure: ${value}`,
};

const ANSWERS = [
  { value: 'true', label: 'right' },
  { value: 'false', label: 'wrong' },
] as const;

const LABELS = [
  { value: 'pass', label: 'labelled right' },
  { value: 'fail', label: 'labelled wrong' },
  { value: 'none', label: 'not labelled' },
] as const;

export function ResultFilters(props: {
  readonly run: Run;
  readonly search: RunSearch;
  readonly pointers: readonly string[];
  readonly onChange: (changes: RunSearch) => void;
}) {
  const { run, search, pointers, onChange } = props;
  const [isOpen, setOpen] = useState(false);
  const stated = [
    ...Object.entries(FILTERS).flatMap(([name, text]) => {
      const value = search[name as keyof RunSearch];
      return value === undefined ? [] : [[name, text(value)] as const];
    }),
    ...metaPills(search),
  ];
  return (
    <Group gap="xs" role="search" aria-label="Results" display="contents">
      <Clearable
        isFiltered={stated.length > 0}
        onClear={() => onChange(Object.fromEntries(stated.map(([name]) => [name, undefined])))}
      >
        <TypedFilter
          label="Search questions, outputs, reasons"
          value={search.q}
          onChange={(text) => onChange({ q: text })}
          isWide
        />
        <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus>
          <Popover.Target>
            <SmallButton
              label="Filters"
              icon="filter"
              opens
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            />
          </Popover.Target>
          <Popover.Dropdown aria-label="Filters">
            <Fields run={run} search={search} pointers={pointers} onChange={onChange} />
          </Popover.Dropdown>
        </Popover>
        <FilterPills stated={stated} onRemove={(name) => onChange({ [name]: undefined })} />
      </Clearable>
    </Group>
  );
}

const WIDTH = 150;

/** What is stated as a range, and what as a text. */
const RANGES = { score: 'Score', latency: 'Latency (ms)', output_tokens: 'Output tokens', cost: 'Cost' };
const TEXTS = { got: 'Got', expected: 'Expected' };

/** Keys that the list has at once: of more, some are found by typing. */
const MAX_LISTED = 100;

function Fields({ run, search, pointers, onChange }: Parameters<typeof ResultFilters>[0]) {
  const { by_section, by_type, by_tag } = run.scores;
  const [pointer, setPointer] = useState<string | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget)];
    const changes = fields.map(([name, text]) => [name, text === '' ? undefined : text]);
    onChange(Object.fromEntries(changes) as RunSearch);
  };
  const typed = (name: string) => {
    const value = search[name as keyof RunSearch] as string | undefined;
    return { name, size: 'xs', w: WIDTH, defaultValue: value };
  };
  const choices: readonly (readonly [label: string, name: keyof RunSearch, values: readonly string[]])[] = [
    ['Status', 'status', RESULTS.status],
    ['Scorer', 'scorer', scorersOf(run)],
    ['Section', 'section', Object.keys(by_section ?? {})],
    ['Type', 'type', Object.keys(by_type ?? {})],
    ['Tag', 'tag', Object.keys(by_tag ?? {})],
    ['Finish reason', 'finish_reason', Object.keys(run.finish_reasons ?? {})],
    ['Output', 'output', RESULTS.output],
  ];
  return (
    <form onSubmit={submit}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={6}>
        <ChosenFilter<string>
          label="Answer"
          width={WIDTH}
          isWithin
          value={search.passed?.toString()}
          values={ANSWERS}
          onChange={(next) => onChange({ passed: next === undefined ? undefined : next === 'true' })}
        />
        <ChosenFilter
          label="Label"
          width={WIDTH}
          isWithin
          value={search.label}
          values={LABELS}
          onChange={(next) => onChange({ label: next })}
        />
        {choices.map(([label, name, values]) =>
          values.length > 1 || search[name] !== undefined ? (
            <ChosenFilter
              key={name}
              label={label}
              width={WIDTH}
              isWithin
              isSearchable
              value={search[name] as string | undefined}
              values={values}
              onChange={(next) => onChange({ [name]: next })}
            />
          ) : null,
        )}
      </SimpleGrid>
      <SimpleGrid cols={2} spacing="xs" verticalSpacing={4} mt="xs">
        {Object.entries(RANGES).flatMap(([name, label]) => [
          <NumberInput key={`min ${name}`} {...typed(`min_${name}`)} min={0} label={`${label} from`} />,
          <NumberInput key={`max ${name}`} {...typed(`max_${name}`)} min={0} label={`${label} to`} />,
        ])}
        {Object.entries(TEXTS).map(([name, label]) => (
          <TextInput key={name} {...typed(name)} dir="auto" label={label} />
        ))}
        {pointers.length > 0 && (
          <>
            <Select
              label="Key of the metadata"
              size="xs"
              w={WIDTH}
              searchable
              limit={MAX_LISTED}
              clearable
              value={pointer}
              onChange={setPointer}
              data={pointers.map((one) => ({ value: one, label: pointerName(one) }))}
              comboboxProps={{ withinPortal: false }}
            />
            <TextInput
              {...typed(`meta.${pointer}`)}
              label="Its value"
              dir="auto"
              disabled={pointer === null}
            />
          </>
        )}
      </SimpleGrid>
      <Button type="submit" size="xs" mt="xs">
        Filter
      </Button>
    </form>
  );
}

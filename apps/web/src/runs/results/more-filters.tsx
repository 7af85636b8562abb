import { Button, Group, NumberInput, Popover, Select, Stack, TextInput } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { SmallButton } from '../../ui/small-button.ts';
import { metaFilter, type RunSearch } from '../runs-search.ts';

/** Keys that the list has at once: of more, some are found by typing. */
const MAX_LISTED = 100;

/** Filters that are used less often: the range of the score, and a value of the metadata. */
export function MoreFilters({
  search,
  metaKeys,
  onChange,
}: {
  readonly search: RunSearch;
  readonly metaKeys: readonly string[];
  readonly onChange: (changes: RunSearch) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus>
      <Popover.Target>
        <SmallButton
          leftSection={<IconFilter size={16} />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          More filters
        </SmallButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="More filters">
        <Fields
          search={search}
          metaKeys={metaKeys}
          onChange={(changes) => {
            setOpen(false);
            onChange(changes);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

function Fields({ search, metaKeys, onChange }: Parameters<typeof MoreFilters>[0]) {
  const [least, setLeast] = useState<string | number>(search.min_score ?? '');
  const [most, setMost] = useState<string | number>(search.max_score ?? '');
  const [key, setKey] = useState<string | null>(null);
  const [value, setValue] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange({
      min_score: least === '' ? undefined : Number(least),
      max_score: most === '' ? undefined : Number(most),
      ...(key === null ? {} : metaFilter(key, value)),
    });
  };
  const score = { size: 'xs', w: 120, min: 0, max: 1, step: 0.1 } as const;
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <Group gap="xs">
          <NumberInput {...score} label="Score from" value={least} onChange={setLeast} />
          <NumberInput {...score} label="Score to" value={most} onChange={setMost} />
        </Group>
        {metaKeys.length > 0 && (
          <Group gap="xs">
            <Select
              label="Key of the metadata"
              size="xs"
              w={150}
              searchable
              limit={MAX_LISTED}
              clearable
              value={key}
              onChange={setKey}
              data={[...metaKeys]}
              comboboxProps={{ withinPortal: false }}
            />
            <TextInput
              label="Its value"
              size="xs"
              w={150}
              dir="auto"
              disabled={key === null}
              value={value}
              onChange={({ currentTarget }) => setValue(currentTarget.value)}
            />
          </Group>
        )}
        <Button type="submit" size="xs" w="fit-content">
          Filter
        </Button>
      </Stack>
    </form>
  );
}

import { Button, Group, Select } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { TypedFilter } from '../../ui/typed-filter.tsx';
import { RESULT_STATUSES, type RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';

/** The filters of results. They are in the address of the page. */
export function ResultFilters({
  run,
  search,
  onChange,
}: {
  readonly run: Run;
  readonly search: RunSearch;
  readonly onChange: (changes: Partial<RunSearch>) => void;
}) {
  const { status, passed, section, type, tag, finish_reason, error, q } = search;
  const { by_section, by_type, by_tag } = run.scores;
  const choice = (
    label: string,
    value: string | undefined,
    values: readonly string[],
    name: keyof RunSearch,
  ) =>
    values.length > 1 || value !== undefined ? (
      <Select
        aria-label={label}
        placeholder={label}
        size="xs"
        w={130}
        clearable
        searchable
        value={value ?? null}
        onChange={(next) => onChange({ [name]: next ?? undefined })}
        data={[...values]}
      />
    ) : null;
  const isFiltered = [status, passed, section, type, tag, finish_reason, error, q].some(
    (value) => value !== undefined,
  );
  return (
    <Group gap="xs" role="search" aria-label="Results">
      <TypedFilter
        label="Search questions, outputs, reasons"
        value={q}
        onChange={(text) => onChange({ q: text })}
        isWide
      />
      {choice('Status', status, RESULT_STATUSES, 'status')}
      <Select
        aria-label="Answer"
        placeholder="Answer"
        size="xs"
        w={130}
        clearable
        value={passed === undefined ? null : String(passed)}
        onChange={(next) => onChange({ passed: next === null ? undefined : next === 'true' })}
        data={[
          { value: 'true', label: 'right' },
          { value: 'false', label: 'wrong' },
        ]}
      />
      {choice('Section', section, Object.keys(by_section ?? {}), 'section')}
      {choice('Type', type, Object.keys(by_type ?? {}), 'type')}
      {choice('Tag', tag, Object.keys(by_tag ?? {}), 'tag')}
      {choice('Finish reason', finish_reason, Object.keys(run.finish_reasons ?? {}), 'finish_reason')}
      {isFiltered && (
        <Button
          size="xs"
          variant="subtle"
          leftSection={<IconX size={14} />}
          onClick={() =>
            onChange({
              status: undefined,
              passed: undefined,
              section: undefined,
              type: undefined,
              tag: undefined,
              finish_reason: undefined,
              error: undefined,
              q: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </Group>
  );
}

import { Group, Pill } from '@mantine/core';
import { ChosenFilter } from '../../ui/chosen-filter.tsx';
import { Clearable } from '../../ui/clearable.tsx';
import { TypedFilter } from '../../ui/typed-filter.tsx';
import { RESULT_STATUSES, type RunSearch } from '../runs-search.ts';
import { type Run, scorersOf } from '../use-run.ts';
import { MoreFilters } from './more-filters.tsx';
import { metaFilters } from './results-query.ts';

/** What narrows the list, each absent. */
const NO_FILTERS = {
  status: undefined,
  passed: undefined,
  min_score: undefined,
  max_score: undefined,
  section: undefined,
  type: undefined,
  tag: undefined,
  finish_reason: undefined,
  output: undefined,
  error: undefined,
  label: undefined,
  label_by: undefined,
  label_type: undefined,
  q: undefined,
} as const;

/** Pixels of a filter. */
const WIDTH = 130;

const ANSWERS = [
  { value: 'true', label: 'right' },
  { value: 'false', label: 'wrong' },
] as const;

const LABELS = [
  { value: 'pass', label: 'labelled right' },
  { value: 'fail', label: 'labelled wrong' },
  { value: 'none', label: 'not labelled' },
] as const;

/** The filters of results. They are in the address of the page. */
export function ResultFilters({
  run,
  search,
  metaKeys,
  onChange,
}: {
  readonly run: Run;
  readonly search: RunSearch;
  /** Keys of the metadata that values can be asked of. */
  readonly metaKeys: readonly string[];
  readonly onChange: (changes: RunSearch) => void;
}) {
  const { status, passed, scorer, section, type, tag, finish_reason, q } = search;
  const { by_section, by_type, by_tag } = run.scores;
  const scorers = scorersOf(run);
  const choice = (
    label: string,
    value: string | undefined,
    values: readonly string[],
    name: keyof RunSearch,
  ) =>
    values.length > 1 || value !== undefined ? (
      <ChosenFilter
        label={label}
        width={WIDTH}
        isSearchable
        value={value}
        values={values}
        onChange={(next) => onChange({ [name]: next })}
      />
    ) : null;
  const ofMeta = metaFilters(search);
  const isFiltered =
    ofMeta.length > 0 ||
    Object.keys(NO_FILTERS).some((name) => search[name as keyof RunSearch] !== undefined);
  return (
    <Group gap="xs" role="search" aria-label="Results" display="contents">
      <Clearable
        isFiltered={isFiltered}
        onClear={() =>
          onChange({ ...NO_FILTERS, ...Object.fromEntries(ofMeta.map(([name]) => [name, undefined])) })
        }
      >
        <TypedFilter
          label="Search questions, outputs, reasons"
          value={q}
          onChange={(text) => onChange({ q: text })}
          isWide
        />
        {choice('Status', status, RESULT_STATUSES, 'status')}
        {choice('Scorer', scorer, scorers, 'scorer')}
        <ChosenFilter<string>
          label="Answer"
          width={WIDTH}
          value={passed?.toString()}
          values={ANSWERS}
          onChange={(next) => onChange({ passed: next === undefined ? undefined : next === 'true' })}
        />
        <ChosenFilter
          label="Label"
          width={WIDTH}
          value={search.label}
          values={LABELS}
          onChange={(next) => onChange({ label: next })}
        />
        {choice('Section', section, Object.keys(by_section ?? {}), 'section')}
        {choice('Type', type, Object.keys(by_type ?? {}), 'type')}
        {choice('Tag', tag, Object.keys(by_tag ?? {}), 'tag')}
        {choice('Finish reason', finish_reason, Object.keys(run.finish_reasons ?? {}), 'finish_reason')}
        <MoreFilters search={search} metaKeys={metaKeys} onChange={onChange} />
        {pillsOf(search).map(([text, changes]) => (
          <Pill
            key={text}
            size="md"
            withRemoveButton
            removeButtonProps={{
              'aria-label': `Remove the filter ${text}`,
              'aria-hidden': false,
              tabIndex: 0,
            }}
            onRemove={() => onChange(changes)}
          >
            <span dir="auto">{text}</span>
          </Pill>
        ))}
      </Clearable>
    </Group>
  );
}

/** The filters that have no field in the bar, each with what removes it. */
function pillsOf(search: RunSearch): readonly (readonly [text: string, changes: RunSearch])[] {
  const { error, output, min_score, max_score, label_by, label_type } = search;
  return [
    ...(error === undefined ? [] : [['one kind of error', { error: undefined }] as const]),
    ...(output === undefined ? [] : [[`${output} output`, { output: undefined }] as const]),
    ...(min_score === undefined ? [] : [[`score from ${min_score}`, { min_score: undefined }] as const]),
    ...(max_score === undefined ? [] : [[`score to ${max_score}`, { max_score: undefined }] as const]),
    ...(label_by === undefined ? [] : [[`label of ${label_by}`, { label_by: undefined }] as const]),
    ...(label_type === undefined ? [] : [[`failure: ${label_type}`, { label_type: undefined }] as const]),
    ...metaFilters(search).map(
      ([name, value]) => [`${keyOf(name)} = ${value}`, { [name]: undefined }] as const,
    ),
  ];
}

/** The key of the metadata that a filter names by its pointer. */
const keyOf = (name: string): string =>
  name
    .replace(/^meta\.\/?/, '')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

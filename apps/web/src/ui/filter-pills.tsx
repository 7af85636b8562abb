import { Pill } from '@mantine/core';
import { pointerName } from './pointer-of.ts';
import { metaFilters } from './search-params.ts';

/** A filter that an address states: the name of its parameter, and what it says. */
type StatedFilter = readonly [name: string, text: string];

/** The filters of the metadata, as pills say them. */
export const metaPills = (search: object): readonly StatedFilter[] =>
  metaFilters(search).map(([name, value]) => [name, `${pointerName(name.slice('meta.'.length))} = ${value}`]);

/** Filters in words, each with a button that takes it away. */
export function FilterPills({
  stated,
  onRemove,
}: {
  readonly stated: readonly StatedFilter[];
  readonly onRemove: (name: string) => void;
}) {
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

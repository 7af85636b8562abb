import { Checkbox, Group, Popover, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { IconButton, SmallButton } from '../buttons.tsx';
import { Icon } from '../icons.tsx';
import { Dimmed } from '../text/dimmed.ts';
import { formatCount } from '../text/formats.ts';
import { type ColumnsView, moved, readView, type ViewColumn, widthsText } from './view-columns.ts';

/** Columns that the menu lists at once: of more, some are found by their names. */
const MAX_LISTED = 60;

/** Pixels that a step adds to the width of a column. */
const STEP = 40;

const [UP, DOWN] = [
  <Icon key="up" name="arrowUp" size={14} />,
  <Icon key="down" name="arrowDown" size={14} />,
];
const STEP_BUTTON = { size: 24, variant: 'subtle', color: 'gray' } as const;

export function ColumnsMenu(props: {
  readonly columns: readonly ViewColumn[];
  readonly defaults: readonly string[];
  readonly view: ColumnsView;
  readonly onView: (changes: ColumnsView) => void;
}) {
  const { columns, defaults, view, onView } = props;
  const { shown, widths } = readView(view, columns, defaults);
  const ordered = [
    ...shown.flatMap((key) => columns.filter((column) => column.key === key)),
    ...columns.filter(({ key }) => !shown.includes(key)),
  ];
  const [typed, setTyped] = useState('');
  const found = ordered.filter(({ label }) => label.toLowerCase().includes(typed.trim().toLowerCase()));
  const show = (keys: readonly string[]): void => onView({ columns: keys.join(',') || undefined });
  const isChanged = [view.columns, view.widths].some((one) => one !== undefined);
  return (
    <Popover position="bottom-start" trapFocus>
      <Popover.Target>
        <SmallButton label="Columns" icon="columns" opens />
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        {columns.length > MAX_LISTED && (
          <TextInput
            size="xs"
            mb="xs"
            aria-label="Find a column"
            placeholder="Find a column"
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
        <Stack gap={4} component="ul" className="plain-list columns-menu">
          {found.slice(0, MAX_LISTED).map(({ key, label, size }) => {
            const isShown = shown.includes(key);
            const width = widths[key] ?? size;
            const resize = (next: number): void => onView({ widths: widthsText({ ...widths, [key]: next }) });
            const steps = [
              [`Move ${label} up`, UP, () => show(moved(shown, key, -1))],
              [`Move ${label} down`, DOWN, () => show(moved(shown, key, 1))],
              [`Make ${label} narrower`, '−', () => resize(width - STEP)],
              [`Make ${label} wider`, '+', () => resize(width + STEP)],
            ] as const;
            return (
              <Group component="li" key={key} gap={8} mih={30} wrap="nowrap" justify="space-between">
                <Checkbox
                  size="xs"
                  label={label}
                  checked={isShown}
                  onChange={() => show(isShown ? shown.filter((one) => one !== key) : [...shown, key])}
                />
                {isShown && (
                  <Group gap={2} wrap="nowrap">
                    {steps.map(([name, icon, take]) => (
                      <IconButton key={name} label={name} {...STEP_BUTTON} onClick={take}>
                        {icon}
                      </IconButton>
                    ))}
                  </Group>
                )}
              </Group>
            );
          })}
        </Stack>
        {found.length > MAX_LISTED && (
          <Dimmed mt="xs">{formatCount(found.length - MAX_LISTED)} more: type a part of their names</Dimmed>
        )}
        <SmallButton
          label="Reset"
          size="compact-xs"
          variant="subtle"
          mt="xs"
          disabled={!isChanged}
          onClick={() => onView({ columns: undefined, widths: undefined })}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

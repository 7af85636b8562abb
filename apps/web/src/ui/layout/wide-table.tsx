import { Table, type TableProps } from '@mantine/core';

/** A table that scrolls sideways, also by keyboard, where the window is narrower than `minWidth` pixels. */
export function WideTable({
  label,
  minWidth,
  ...rest
}: TableProps & { readonly label: string; readonly minWidth?: number }) {
  return (
    <section className="scroll-x" aria-label={label} tabIndex={0}>
      <Table miw={minWidth} {...rest} />
    </section>
  );
}

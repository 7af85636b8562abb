import { Button } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** A list next to the entry that is open. Where there is no room for both, the entry takes the place of the list. */
export function Panes({
  list,
  entry,
  isOpen,
  onClose,
  label,
  isWide = false,
}: {
  readonly list: ReactNode;
  readonly entry: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Names the entry for screen readers, such as "Item". */
  readonly label: string;
  /** Whether the list takes all the room while nothing is open. */
  readonly isWide?: boolean;
}) {
  return (
    <div className="panes" data-open={isOpen} data-wide={isWide}>
      <div className="pane">{list}</div>
      <section className="pane" aria-label={label} tabIndex={0}>
        <Button
          className="narrow-only"
          variant="subtle"
          size="compact-sm"
          m="xs"
          leftSection={<IconArrowLeft size={14} />}
          onClick={onClose}
        >
          Back to the list
        </Button>
        {entry}
      </section>
    </div>
  );
}

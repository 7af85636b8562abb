import { Button } from '@mantine/core';
import { useDrag, useLocalStorage } from '@mantine/hooks';
import { type CSSProperties, type ReactNode, useRef } from 'react';
import { IconArrowLeft } from '../icons.tsx';

/** The share of the width that the list has, in per cent. */
const [LEAST, MOST, STEP] = [20, 80, 2] as const;

const bounded = (share: number): number => Math.round(Math.min(MOST, Math.max(LEAST, share)));

/**
 * A list next to the entry that is open, with a border that is dragged. Both fill the window. Where there is no room for
 * both, the entry takes the place of the list.
 */
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
  const [share, setShare] = useLocalStorage({ key: 'svc-list-share', defaultValue: 45 });
  const frame = useRef<HTMLDivElement>(null);
  const drag = useDrag<HTMLDivElement>(
    ({ event }) => {
      const { left = 0, width = 1 } = frame.current?.getBoundingClientRect() ?? {};
      setShare(bounded((100 * (event.clientX - left)) / width));
    },
    { axis: 'x' },
  );
  const by = { ArrowLeft: -STEP, ArrowRight: STEP, Home: -100, End: 100 } as const;
  return (
    <div
      ref={frame}
      className="panes fills"
      data-open={isOpen}
      data-wide={isWide}
      style={{ '--list-share': `${bounded(share)}%` } as CSSProperties}
    >
      <div className="pane">{list}</div>
      {/* biome-ignore lint/a11y/useSemanticElements: a rule does not move */}
      <div
        ref={drag.ref}
        className="panes-border"
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the list"
        aria-valuenow={bounded(share)}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        tabIndex={0}
        onKeyDown={({ key }) => key in by && setShare(bounded(share + by[key as keyof typeof by]))}
      />
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

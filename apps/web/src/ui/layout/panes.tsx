import { useLocalStorage, useSplitter } from '@mantine/hooks';
import type { CSSProperties, ReactNode } from 'react';
import { SmallButton } from '../buttons.tsx';
import { Icon } from '../icons.tsx';

/** A list next to the open entry, with a border that is dragged. Without room for both, the entry replaces the list. */
export function Panes(props: {
  readonly list: ReactNode;
  readonly entry: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Names the entry for screen readers, such as "Item". */
  readonly label: string;
}) {
  const { list, entry, isOpen, onClose, label } = props;
  // in per cent of the width
  const [share, setShare] = useLocalStorage({ key: 'svc-list-share', defaultValue: 45 });
  const { ref, getHandleProps } = useSplitter({
    panels: [{ defaultSize: 45, min: 20, max: 80 }, { defaultSize: 55 }],
    sizes: [share, 100 - share],
    onSizeChange: ([next]) => setShare(Number(next)),
    step: 2,
  });
  return (
    <div
      ref={ref}
      className="panes fills"
      data-open={isOpen}
      style={{ '--list-share': `${share}%` } as CSSProperties}
    >
      <div className="pane">{list}</div>
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is a separator by these properties */}
      <div {...getHandleProps({ index: 0 })} className="panes-border" aria-label="Width of the list" />
      <section className="pane" aria-label={label} tabIndex={0}>
        <SmallButton
          label="Back to the list"
          className="narrow-only"
          variant="subtle"
          size="compact-sm"
          m="xs"
          leftSection={<Icon name="arrowLeft" size={14} />}
          onClick={onClose}
        />
        {entry}
      </section>
    </div>
  );
}

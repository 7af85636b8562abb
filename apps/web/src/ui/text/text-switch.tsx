import { SegmentedControl } from '@mantine/core';
import { useTextView } from './rich-text.tsx';

/** The one switch of a page, and of the whole console, for how texts are shown. */
export default function TextSwitch() {
  const [view, setView] = useTextView();
  return (
    <SegmentedControl
      size="xs"
      value={view}
      onChange={setView}
      aria-label="How texts are shown"
      data={[
        { value: 'rendered', label: 'Rendered' },
        { value: 'raw', label: 'Raw' },
      ]}
    />
  );
}

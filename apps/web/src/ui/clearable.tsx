import { Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { Fragment, type ReactNode, useState } from 'react';

/** The filters of a list, with a button that takes all of them away. */
export function Clearable({
  isFiltered,
  onClear,
  children,
}: {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly children: ReactNode;
}) {
  const [clears, setClears] = useState(0);
  const clear = (): void => {
    // new fields: what was typed a moment ago does not come back
    setClears(clears + 1);
    onClear();
  };
  return (
    <>
      <Fragment key={clears}>{children}</Fragment>
      {isFiltered && (
        <Button size="xs" variant="subtle" leftSection={<IconX size={14} />} onClick={clear}>
          Clear
        </Button>
      )}
    </>
  );
}

import { Button, Collapse } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

/** Further fields below a button. They stay open while something in them is wrong. */
export function More({
  what,
  isForced = false,
  children,
}: {
  /** What there is more of, such as "fields". */
  readonly what: string;
  readonly isForced?: boolean;
  readonly children: ReactNode;
}) {
  const [isWanted, { toggle }] = useDisclosure(false);
  const isOpen = isWanted || isForced;
  return (
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        px={0}
        w="fit-content"
        onClick={toggle}
        aria-expanded={isOpen}
      >
        {isOpen ? `Fewer ${what}` : `More ${what}`}
      </Button>
      <Collapse expanded={isOpen} transitionDuration={0}>
        {isOpen && children}
      </Collapse>
    </>
  );
}

import { Button } from '@mantine/core';

/** A button among others: of a page, a list or a form that does more than one thing. */
export const SmallButton = Button.withProps({ size: 'xs', variant: 'default' });

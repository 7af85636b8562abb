import { Text } from '@mantine/core';

/** A remark, or what stands where there is nothing to show: paler than other texts. */
export const Dimmed = Text.withProps({ c: 'dimmed', size: 'sm' });

import { Text } from '@mantine/core';

/** A remark, or what stands where there is nothing to show: paler than other texts. */
export const Dimmed = Text.withProps({ c: 'dimmed', size: 'sm' });

export const Note = Text.withProps({ c: 'dimmed', size: 'xs', span: true });

/** Why something cannot be done, which screen readers read out. */
export const Refusal = Text.withProps({ c: 'var(--mantine-color-error)', size: 'sm', role: 'alert' });

/** Colours of all charts: readable in light and dark. */
export const COLORS = {
  bar: 'var(--mantine-primary-color-filled)',
  pale: 'var(--mantine-primary-color-light)',
  grid: 'var(--mantine-color-default-border)',
  text: 'var(--mantine-color-dimmed)',
  track: 'light-dark(#f1f3f5, #3b3b3b)',
  mean: 'light-dark(var(--mantine-color-brand-3), var(--mantine-color-brand-6))',
} as const;

export const AXIS = {
  tick: { fontSize: 11, fill: COLORS.text },
  tickLine: false,
  axisLine: { stroke: COLORS.grid },
} as const;

export const TOOLTIP = {
  isAnimationActive: false,
  cursor: { fill: 'var(--mantine-color-default-hover)' },
  contentStyle: {
    background: 'var(--mantine-color-body)',
    border: '1px solid var(--mantine-color-default-border)',
    fontSize: 12,
  },
} as const;

/**
 * Whether this is the long form, `npm run test:all`, rather than `npm test`. By hand: `TEST_LONG=1 vitest run …`. Only then
 * do files run that are named `*.long.test.ts`, and single tests behind `it.runIf(IS_LONG)`.
 */
// biome-ignore lint/suspicious/noUndeclaredEnvVars: turbo runs the short form only
export const IS_LONG: boolean = (process.env['TEST_LONG'] ?? '') !== '';

/** The number of rounds, or a size: the full one, or as much as shows the kind. */
export const times = (long: number, short: number): number => (IS_LONG ? long : short);

/**
 * The quantile of the normal distribution, with an error below 4.5e-4: Abramowitz and Stegun, "Handbook of Mathematical
 * Functions" (1964), 26.2.23.
 *
 * @param chance more than 0, less than 1
 */
export function normalQuantile(chance: number): number {
  if (chance < 0.5) return -normalQuantile(1 - chance);
  const t = Math.sqrt(-2 * Math.log(1 - chance));
  const above = 2.515517 + t * (0.802853 + t * 0.010328);
  const below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return t - above / below;
}

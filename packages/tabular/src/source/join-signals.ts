/** One signal for both; undefined when there is none. */
export function joinSignals(
  first: AbortSignal | undefined,
  second: AbortSignal | undefined,
): AbortSignal | undefined {
  if (first === undefined || second === undefined || first === second) return first ?? second;
  return AbortSignal.any([first, second]);
}

/** The tour for first-time users. */
export function Tour() {
  return null;
}

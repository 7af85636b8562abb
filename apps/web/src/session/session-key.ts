/** The query of the current session. */
export const sessionKey: readonly string[] = ['session'];

/** The embedded server cannot start or stop; the message is one sentence that says why. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code = 'embedded_postgres';
}

/** A JSON Schema for OpenAPI 3.1. `x-rule` says a `pattern` in words, for errors. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

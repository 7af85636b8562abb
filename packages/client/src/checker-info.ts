/** What the service says of a checker, for forms and lists. */
export interface CheckerInfo {
  /** `checker.type` */
  readonly name: string;
  /** One sentence: when an output passes. */
  readonly description: string;
  /** A case in a few words. */
  readonly example: string;
  /** Schemas of its options, by name. */
  readonly options: Readonly<Record<string, CheckerOption>>;
}

/** The schema of an option of a checker. */
export interface CheckerOption {
  readonly type: readonly string[];
  readonly description: string;
  readonly default?: unknown;
  /** The values of a text. */
  readonly enum?: readonly (string | null)[];
  readonly minimum?: number;
}

/** A schema of the OpenAPI document without references, as far as forms need it. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: FieldSchema;
  readonly oneOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | FieldSchema;
  readonly [keyword: string]: unknown;
}

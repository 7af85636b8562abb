/** An error of a file, with its place in it. */
export interface FileProblem {
  readonly message: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly path?: string | undefined;
}

/** What a file is, as its beginning tells. */
export type FileKind = 'package' | 'items' | 'table';

/** What the worker found out about a file. */
export type Inspection =
  | { readonly state: 'reading'; readonly kind: FileKind; readonly items: number }
  | {
      readonly state: 'read';
      readonly kind: FileKind;
      readonly items: number;
      readonly sections: readonly { readonly name: string; readonly items: number }[];
      /** The first items, as exact JSON text. */
      readonly first: readonly string[];
      /** Null for a table, which has no items before it is mapped, and with errors. */
      readonly versionHash: string | null;
      readonly errors: readonly FileProblem[];
      readonly errorsTotal: number;
    };

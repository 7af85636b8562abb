import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';

/** The options of `import-hub` that are not about columns. */
export interface ImportHubOptions {
  readonly name: string;
  readonly description?: string;
  readonly split?: string;
  readonly subset?: string;
  readonly revision?: string;
}

/** The body of `POST /datasets/hub/import`, with only the options that were given. */
export function importRequest(
  path: string,
  { name, description, split, subset, revision }: ImportHubOptions,
  mapping: JsonObject,
  token: string | undefined,
): string {
  const given = (members: Readonly<Record<string, string | undefined>>): JsonObject =>
    Object.fromEntries(
      Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  const config = given({ path, split, subset, revision, token });
  return canonicalJson({ ...given({ name, description }), config, mapping });
}

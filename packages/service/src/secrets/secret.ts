import { readFileSync, statSync } from 'node:fs';

/** A value that does not print: only `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it only to send or compare the value. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const SUFFIX = '_FILE';
/** Longer than any list of keys. */
const MAX_BYTES = 64 * 1024;

/**
 * Takes secrets from files, as Docker and Kubernetes hand them out: `NAME_FILE` names a file whose text is the value of `NAME`.
 *
 * @param isSecret whether a variable holds a secret; others have no such file
 * @returns the environment with the values in place of the names, and one sentence per file that cannot be used
 */
export function readSecretFiles(
  env: Environment,
  isSecret: (name: string) => boolean,
): { readonly env: Environment; readonly problems: readonly string[] } {
  const values: Record<string, string | undefined> = { ...env };
  const problems: string[] = [];
  for (const [fileName, stated] of Object.entries(env)) {
    const name = fileName.slice(0, -SUFFIX.length);
    if (!fileName.endsWith(SUFFIX) || !isSecret(name)) continue;
    delete values[fileName];
    const path = stated?.trim() ?? '';
    if (path === '') continue;
    if ((env[name]?.trim() ?? '') !== '') problems.push(`${fileName} and ${name} are both set: remove one`);
    try {
      values[name] = readValue(path);
    } catch (error) {
      problems.push(`${fileName} ${(error as Error).message}`);
    }
  }
  return { env: values, problems };
}

function readValue(path: string): string {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`);
  }
  if (text === '') throw new Error(`names an empty file, ${path}`);
  return text;
}

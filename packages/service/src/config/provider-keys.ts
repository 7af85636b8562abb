import { Secret } from '../secrets/secret.ts';

interface ProviderKey {
  readonly key: Secret;
  /** As `URL.origin` writes them; at least one. */
  readonly origins: readonly string[];
}

/** Keys by the name of their environment variable, which a run names as `api_key_env`. */
export type ProviderKeys = Readonly<Record<string, ProviderKey>>;

const PREFIX = 'SVC_PROVIDER_';
const ORIGINS_SUFFIX = '_ORIGINS';
/** The names that `api_key_env` of a run may have; see `packages/service/src/evaluation/config/run-config-schema.ts`. */
const KEY_NAME = /^SVC_PROVIDER_[A-Z0-9_]{1,100}$/;
/** Where the APIs of these names are: their keys need no list of origins. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  ANTHROPIC: 'https://api.anthropic.com',
  CEREBRAS: 'https://api.cerebras.ai',
  DEEPSEEK: 'https://api.deepseek.com',
  FIREWORKS: 'https://api.fireworks.ai',
  GEMINI: 'https://generativelanguage.googleapis.com',
  GROQ: 'https://api.groq.com',
  MISTRAL: 'https://api.mistral.ai',
  OPENAI: 'https://api.openai.com',
  OPENROUTER: 'https://openrouter.ai',
  TOGETHER: 'https://api.together.xyz',
  XAI: 'https://api.x.ai',
};

export const isProviderKey = (name: string): boolean =>
  name.startsWith(PREFIX) && !name.endsWith(ORIGINS_SUFFIX);

/** A valid header value. */
const VISIBLE_ASCII = /^[\x21-\x7e]{1,4096}$/;

/**
 * The keys of model providers in an environment: `SVC_PROVIDER_X`, each with the origins in `SVC_PROVIDER_X_ORIGINS`,
 * or of a well-known name. An empty variable counts as absent.
 *
 * @param reserved names with the same prefix that are neither keys nor origins
 * @returns the keys, and one sentence per invalid variable, which never repeats its text: it may be a key
 */
export function parseProviderKeys(
  env: Readonly<Record<string, string | undefined>>,
  reserved: ReadonlySet<string>,
): { readonly keys: ProviderKeys; readonly problems: readonly string[] } {
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    const text = value?.trim() ?? '';
    if (name.startsWith(PREFIX) && !reserved.has(name) && text !== '') texts.set(name, text);
  }
  const keys: Record<string, ProviderKey> = {};
  const problems: string[] = [];
  for (const [name, text] of texts) {
    try {
      if (name.endsWith(ORIGINS_SUFFIX)) checkOrigins(name, text, texts);
      else keys[name] = parseKey(name, text, texts.get(`${name}${ORIGINS_SUFFIX}`));
    } catch (error) {
      problems.push(`${name} ${(error as Error).message}`);
    }
  }
  return { keys, problems };
}

function checkOrigins(name: string, text: string, texts: ReadonlyMap<string, string>): void {
  parseOrigins(text);
  const keyName = name.slice(0, -ORIGINS_SUFFIX.length);
  if (texts.has(keyName) && !keyName.endsWith(ORIGINS_SUFFIX)) return;
  throw new Error(`has no key: set ${keyName}, or remove ${name}`);
}

function parseKey(name: string, text: string, origins: string | undefined): ProviderKey {
  if (!KEY_NAME.test(name)) {
    throw new Error('must be SVC_PROVIDER_ and 1 to 100 of A-Z, 0-9 and _, so that a run can name it');
  }
  if (!VISIBLE_ASCII.test(text)) throw new Error('must be visible ASCII, 1 to 4096 characters');
  const wellKnown = WELL_KNOWN[name.slice(PREFIX.length)];
  if (origins === undefined && wellKnown !== undefined)
    return { key: new Secret(text), origins: [wellKnown] };
  if (origins === undefined) {
    throw new Error(`has no origins: set ${name}${ORIGINS_SUFFIX} to where the key may be sent`);
  }
  return { key: new Secret(text), origins: parsedOrNone(origins) };
}

/** Invalid origins are reported under their own variable. */
function parsedOrNone(origins: string): readonly string[] {
  try {
    return parseOrigins(origins);
  } catch {
    return [];
  }
}

function parseOrigins(text: string): readonly string[] {
  return text.split(',').map((entry, index) => {
    const origin = parseOrigin(entry.trim());
    if (origin !== undefined) return origin;
    const base = BASE_URL.exec(entry.trim())?.[1];
    if (base !== undefined) {
      throw new Error(`must be origins, which have no path: write ${base} as entry ${index + 1}`);
    }
    throw new Error(`must be a comma-separated list of https://host[:port]; entry ${index + 1} is not one`);
  });
}

/** The base URL of an API, which is no secret. */
const BASE_URL = /^(https?:\/\/[\w.-]+(?::\d{1,5})?)\/[\w./-]*$/i;

/** `http` is for servers on this machine or network; the scheme must be explicit. */
function parseOrigin(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text)) return undefined;
  return URL.parse(text)?.origin;
}

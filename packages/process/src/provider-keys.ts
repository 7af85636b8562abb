/** The environment variables that begin with `SVC_PROVIDER_`: keys of model providers. */
export type ProviderEnvironment = Readonly<Record<string, string | undefined>>;

/** The part of an environment that runs may name keys from. */
export function providerEnvironment(env: ProviderEnvironment): ProviderEnvironment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('SVC_PROVIDER_')));
}

/** Every key in it, so that logs and exports can leave them out. */
export function providerSecrets(env: ProviderEnvironment): string[] {
  return Object.entries(providerEnvironment(env))
    .filter(([name]) => !name.endsWith('_ORIGINS'))
    .map(([, value]) => (value ?? '').trim())
    .filter((value) => value !== '');
}

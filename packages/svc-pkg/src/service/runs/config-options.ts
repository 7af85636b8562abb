import { ServiceError } from '../client/service-error.ts';

/** Members of a configuration that another option or a usual value of `--set` sets. */
const OPTIONS: Readonly<Record<string, string>> = {
  provider: '--set provider.type=...',
  'provider.model': '--model',
  'provider.base_url': '--base-url',
  checker: '--set checker.type=...',
  judge: '--set judge.model=...',
  reuse: '--reuse',
  'reuse.run_id': '--reuse',
  max_cost: '--max-cost',
  'max_cost.amount': '--max-cost',
  price: '--set price.input_per_million=...',
  allow_unscored: '--set allow_unscored=true',
};

/** A location such as `/config/provider/model`, or a member such as `config.checker`. */
const MEMBER = /(?<![\w/])(?:\/config\/([\w/-]+)|config\.([a-z_]+(?:\.[a-z_]+)*))/g;

/**
 * Performs a request with a configuration. Its errors name, instead of members of the request, those of the file that is the
 * configuration, else the options of this command line.
 *
 * @param file from `configFile`
 * @throws ServiceError, also as `request`
 */
export async function withConfigOptions<T>(request: Promise<T>, file: string | undefined): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const named = file === undefined ? optionsIn : membersIn;
    const errors = error.errors.map((entry) => ({
      ...entry,
      message: named(entry.message),
      ...(file !== undefined && entry.path?.startsWith('/config/') && { file, path: membersIn(entry.path) }),
    }));
    throw new ServiceError(error.code, named(error.message), { ...error, errors });
  }
}

const membersIn = (message: string): string =>
  message.replaceAll(MEMBER, (_, location: string | undefined, member: string | undefined) =>
    location === undefined ? (member ?? '') : `/${location}`,
  );

function optionsIn(message: string): string {
  return message
    .replaceAll(/\bSet (?=config\.)/g, 'Use ')
    .replaceAll(MEMBER, (_, location: string | undefined, member: string | undefined) => {
      const name = location?.replaceAll('/', '.') ?? member ?? '';
      return OPTIONS[name] ?? `--set ${name}`;
    });
}

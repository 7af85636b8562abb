// biome-ignore lint/suspicious/noUndeclaredEnvVars: no task of turbo reads it
const url = process.env['DATABASE_URL'];

/** What Prisma's own command line reads, e.g. for `prisma migrate deploy` against a deployed database. */
export default {
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
  ...(url === undefined ? {} : { datasource: { url } }),
};

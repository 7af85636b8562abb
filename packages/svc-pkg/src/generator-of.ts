import type { PackageGenerator } from '@svc/pkg-format';
import type { CliContext } from './cli-context.ts';

/** This program, as the packages that it writes name it. */
export const generatorOf = ({ version }: Pick<CliContext, 'version'>): PackageGenerator => ({
  name: 'svc-pkg',
  version,
});

import { useNow } from '../use-now.ts';
import { formatAge } from './formats.ts';

/** How long ago something was, with the exact time as its title. */
export function Age({ since }: { readonly since: string }) {
  return (
    <time dateTime={since} title={since}>
      {formatAge(since, useNow())}
    </time>
  );
}

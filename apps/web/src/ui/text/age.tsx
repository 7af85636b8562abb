import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import { formatAge } from './formats.ts';

const STEP_MS = 30_000;

/** How long ago something was, with the exact time as its title. It steps every 30 s. */
export function Age({ since }: { readonly since: string }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useInterval(() => setNowMs(Date.now()), STEP_MS, { autoInvoke: true });
  return (
    <time dateTime={since} title={since}>
      {formatAge(since, nowMs)}
    </time>
  );
}

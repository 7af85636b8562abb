import { useEffect, useState } from 'react';

const STEP_MS = 30_000;

/** The time in milliseconds, for ages that are shown. It steps every 30 s. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), STEP_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

import { useEffect, useState } from 'react';
import type { Inspection } from './inspect-types.ts';

/** Opens a file in a worker and tells what is in it; null until the first answer. */
export function useInspection(file: File | undefined): Inspection | null {
  const [inspection, setInspection] = useState<Inspection | null>(null);
  useEffect(() => {
    setInspection(null);
    if (file === undefined) return;
    const worker = new Worker(new URL('./inspect-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Inspection>) => setInspection(data));
    worker.postMessage(file);
    return () => worker.terminate();
  }, [file]);
  return inspection;
}

import type { Semaphore } from '@svc/concurrency';

/** A page whose memory is accounted for until it is released. */
export interface HeldPage {
  /** Whether the page is large, so that it should be sent in pieces. */
  readonly isLarge: boolean;
  /** Call it when the page was sent, or is not needed. */
  release(): void;
}

/** Reads a page when there is memory for it. @param largeBytes that it takes; 0 if it is not large */
export async function holdPage<T extends object>(
  largePages: Semaphore,
  largeBytes: number,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T & HeldPage> {
  const isLarge = largeBytes > 0;
  const permits = isLarge ? await largePages.acquire(signal, { permits: largeBytes }) : undefined;
  const release = (): void => permits?.[Symbol.dispose]();
  try {
    return { ...(await read()), isLarge, release };
  } catch (error) {
    release();
    throw error;
  }
}

import type { EarlierAnswer, FindAnswer, RunSession } from '@svc/evaluation';

/** Hashes of one query. */
const MAX_HASHES = 64;

interface Wanted {
  readonly hash: Uint8Array;
  readonly found: (answer: EarlierAnswer | null) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Looks for answers with one query at a time: the first hash is looked up immediately, and those that arrive during a
 * query are looked up together by the next one.
 */
export function createAnswerFinder(
  findAnswers: NonNullable<RunSession['findAnswers']>,
  signal: AbortSignal,
): FindAnswer {
  const waiting: Wanted[] = [];
  let isLooking = false;

  const look = async (): Promise<void> => {
    isLooking = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_HASHES);
      try {
        const answers = await findAnswers(
          batch.map(({ hash }) => hash),
          signal,
        );
        for (const [index, { found }] of batch.entries()) found(answers[index] ?? null);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    isLooking = false;
  };

  return (hash) =>
    new Promise((found, failed) => {
      waiting.push({ hash, found, failed });
      if (!isLooking) void look();
    });
}

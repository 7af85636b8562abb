import {
  type Completion,
  costOf,
  estimateInputTokens,
  type Price,
  type Provider,
  type RunClock,
  RunError,
  roundCost,
  type TokenCounts,
  tokenCounts,
} from '../../evaluation/index.ts';

export interface BudgetState {
  readonly maxCost: number | null;
  /** What the requests of the run have cost before. */
  readonly spent: number;
  /** Kept results of earlier requests, and their cost: their mean is expected of the next one. */
  readonly asked: number;
  readonly askedCost: number;
}

interface Waiting {
  /** Estimated cost of its prompt. */
  readonly prompt: number;
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Makes the budget of a run. It expects of a request the mean cost of the results so far, and at least its estimated
 * prompt, and the same of the items in progress. So the run exceeds its limit at most by what these cost beyond that.
 * Every answer counts, also of failed requests; if its tokens cannot be read, it counts as expected.
 */
export function createBudget(
  { maxCost, spent: spentBefore, asked: askedBefore, askedCost: askedCostBefore }: BudgetState,
  clock: RunClock,
) {
  let spent = spentBefore;
  let asked = askedBefore;
  let askedCost = askedBefore === 0 ? 0 : askedCostBefore;
  const inProgress = new Set<{ readonly prompt: number }>();
  const waiting: Waiting[] = [];

  const expected = (prompt: number): number => Math.max(prompt, asked === 0 ? 0 : askedCost / asked);
  const outputs = new Map<Provider, { count: number; tokens: number }>();
  const countOutput = (provider: Provider, tokens: number): void => {
    const known = outputs.get(provider) ?? { count: 0, tokens: 0 };
    outputs.set(provider, { count: known.count + 1, tokens: known.tokens + tokens });
  };
  /** The cost of an output of unknown length: the longest that may come, else the mean; null if neither is known. */
  const expectedOutput = (provider: Provider, price: Price): number | null => {
    const known = outputs.get(provider);
    const tokens = provider.maxOutputTokens ?? (known === undefined ? null : known.tokens / known.count);
    return tokens === null ? null : costOf(price, 0, tokens);
  };
  const fits = ({ prompt }: Waiting): boolean => {
    if (maxCost === null) return true;
    let sum = spent + expected(prompt);
    for (const item of inProgress) sum += expected(item.prompt);
    return roundCost(sum) <= maxCost;
  };
  /** In order: the first that does not fit waits for items in progress, and ends the run if there are none. */
  const admitNext = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (!fits(next)) {
        if (inProgress.size === 0) for (const { refuse } of waiting.splice(0)) refuse(budgetSpent());
        return;
      }
      waiting.shift();
      inProgress.add(next);
      next.admit();
    }
  };
  const admission = async (prompt: number, signal: AbortSignal): Promise<Waiting> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Waiting = { prompt, admit: resolve, refuse: reject };
    const leave = (): void => {
      const at = waiting.indexOf(entry);
      if (at < 0) return;
      waiting.splice(at, 1);
      reject(signal.reason);
    };
    waiting.push(entry);
    signal.addEventListener('abort', leave, { once: true });
    admitNext();
    await promise.finally(() => signal.removeEventListener('abort', leave));
    return entry;
  };

  return {
    /** The account of one item: its requests to the model and to the judge. */
    open() {
      /** Null before the first request of the item. */
      let admitted: Waiting | null = null;
      let cost = 0;
      const close = (): number => {
        if (admitted === null || !inProgress.delete(admitted)) return 0;
        if (cost > 0) {
          spent += cost;
          askedCost += cost;
          asked += 1;
        }
        admitNext();
        return cost;
      };
      const charge = (provider: Provider, price: Price): Provider['complete'] =>
        async function complete(request, signal) {
          const tokens = estimateInputTokens(request);
          const prompt = costOf(price, tokens, 0);
          const startMs = clock.nowMs();
          admitted ??= await admission(prompt, signal);
          const waitedMs = clock.nowMs() - startMs;
          const chargeFor = ({ input, output }: TokenCounts): number =>
            (input === null ? prompt : costOf(price, input, 0)) +
            (output === null
              ? (expectedOutput(provider, price) ?? expected(prompt) - prompt)
              : costOf(price, 0, output));
          const pay = (answers: readonly TokenCounts[]): void => {
            for (const answer of answers) cost += chargeFor(answer);
            for (const { output } of answers) if (output !== null) countOutput(provider, output);
          };
          try {
            const completion = await provider.complete(request, signal);
            pay(answersOf(completion));
            return { ...completion, pacedMs: (completion.pacedMs ?? 0) + waitedMs };
          } catch (error) {
            if (error instanceof RunError) pay(error.answers);
            throw error;
          }
        };
      return {
        /**
         * The provider itself without a price; else a provider whose first request waits until its expected cost fits, and
         * whose answers are charged. Later requests belong to the item: an output that was paid for is also judged.
         *
         * @throws RunError `budget_spent`, which ends the run, if the cost does not fit although no other item is in progress
         */
        charge: (provider: Provider, price: Price | null): Provider =>
          price === null ? provider : { ...provider, complete: charge(provider, price) },
        /** Ends the account, once. @returns what the item has cost */
        close,
        [Symbol.dispose]: () => void close(),
      };
    },
  };
}

/** The tokens of the answers behind a completion; none if nobody was asked. */
function answersOf({ answers, usage, attempts }: Completion): readonly TokenCounts[] {
  return answers ?? (usage === null && attempts === null ? [] : [tokenCounts(usage)]);
}

function budgetSpent(): RunError {
  return new RunError('budget_spent', 'The next request could take the run beyond max_cost.', {
    endsRun: true,
  });
}

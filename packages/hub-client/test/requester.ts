import type { JsonValue } from '@svc/jsonl-v23/json';
import type {
  Clock,
  HubRequest,
  RequestContext,
  RequestEvent,
  RequesterDeps,
  RetryEvent,
} from '../src/http/request.ts';
import { Requester } from '../src/http/requester.ts';
import { RateLimitWindows } from '../src/http/retry.ts';
import { openTransport } from '../src/platform-node.ts';

/** A clock that does not wait: sleeping moves its time. */
function quickClock(): Clock & { slept: number[] } {
  let nowMs = 1000;
  const slept: number[] = [];
  return {
    slept,
    nowMs: () => nowMs,
    dateMs: () => Date.UTC(2026, 0, 1) + nowMs,
    random: () => 1,
    async sleep(delayMs, signal) {
      signal?.throwIfAborted();
      slept.push(delayMs);
      nowMs += delayMs;
    },
  };
}

export interface TestRequester {
  requester: Requester;
  context: RequestContext;
  clock: Clock & { slept: number[] };
  events: RequestEvent[];
  retries: RetryEvent[];
}

/** Timeouts for a hub that answers nothing; everything else may take its time on a busy machine. */
export const IMPATIENT = { headersTimeoutMs: 500, idleBodyTimeoutMs: 500 } as const;

/** A requester for tests: real connections, no waiting between tries. */
export function testRequester(
  endpoint: string,
  options: Partial<RequesterDeps> = {},
  given: Partial<RequestContext> = {},
): TestRequester {
  const clock = quickClock();
  const events: RequestEvent[] = [];
  const retries: RetryEvent[] = [];
  const deps = {
    endpoint: new URL(endpoint),
    transport: openTransport({ endpoint: new URL(endpoint), connectTimeoutMs: 30_000 }).send,
    userAgent: 'test/1',
    headersTimeoutMs: 30_000,
    idleBodyTimeoutMs: 30_000,
    clock,
    onRequest: (event: RequestEvent) => events.push(event),
    onRetry: (event: RetryEvent) => retries.push(event),
    rateLimits: new RateLimitWindows(clock),
    ...options,
  };
  const context = {
    subject: { dataset: 'o/d' },
    retry: { maxRetries: 3, baseDelayMs: 100, maxDelayMs: 1000, budgetMs: 60_000 },
    ...given,
  };
  return { requester: new Requester(deps, context), clock, events, retries, context };
}

/** Reads a JSON response whole. */
export async function readValue(
  requester: Requester,
  request: HubRequest,
  context: RequestContext,
  maxBytes = 1e6,
): Promise<JsonValue> {
  return await requester.with(context).readJson(request, { maxBytes }, (json) => json.value());
}

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** `path` of a request that no route took. */
export const UNMATCHED_PATH = '__unmatched__';

const standardMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);

// A request may be a health check or the upload of gigabytes.
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * The `method` label: a method of RFC 9110 section 9 or PATCH as it is, anything else `OTHER`. Case counts.
 */
export function methodLabel(method: string | undefined): string {
  return method !== undefined && standardMethods.has(method) ? method : 'OTHER';
}

/** One request while it is answered. */
export interface RequestMeasurement {
  /** Names the route once it is known: the template with its mount, `/datasets/:id`. */
  setRoute(route: string): void;
  /** Counts the request and takes it out of those in progress. Only the first call counts. */
  finish(answer: { statusCode: number; durationMs: number }): void;
}

/** What is known of one method on one path. */
interface Counts {
  readonly method: string;
  readonly path: string;
  inProgress: number;
  /** status code → answers with it */
  readonly answers: Map<number, number>;
  /** A reset let it go: it belongs to nobody any more. */
  forgotten: boolean;
}

/**
 * The metrics of requests. They are counted here, and told to prom-client when somebody reads them: it puts the
 * labels of a series together with every call, which costs a small request more than its answer.
 */
export class RequestMetrics {
  /** path → method → tally */
  readonly #tallies = new Map<string, Map<string, Counts>>();
  readonly #seconds: Histogram;

  constructor(registers: Registry[]) {
    const tallies = this.#tallies;
    new Counter({
      name: 'svc_http_requests_total',
      help: 'HTTP requests answered, by method, route template and status code; 499 where the client went away.',
      labelNames: ['method', 'path', 'status_code'],
      registers,
      collect() {
        this.reset();
        for (const { method, path, answers } of each(tallies)) {
          for (const [statusCode, count] of answers)
            this.inc({ method, path, status_code: String(statusCode) }, count);
        }
      },
    });
    this.#seconds = new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer.',
      buckets: durationBuckets,
      registers,
    });
    new Gauge({
      name: 'svc_http_requests_in_progress',
      help: 'HTTP requests being answered, by method and route template.',
      labelNames: ['method', 'path'],
      registers,
      collect() {
        for (const { method, path, inProgress } of each(tallies)) this.set({ method, path }, inProgress);
      },
    });
  }

  /** Begins to measure a request. */
  start(method: string | undefined, route: string = UNMATCHED_PATH): RequestMeasurement {
    return new Measurement(this.#tallies, this.#seconds, methodLabel(method), route);
  }

  /** Sets everything back to its start; requests in progress are forgotten. */
  reset(): void {
    for (const tally of each(this.#tallies)) tally.forgotten = true;
    this.#tallies.clear();
    this.#seconds.zero({});
  }
}

class Measurement implements RequestMeasurement {
  readonly #tallies: Map<string, Map<string, Counts>>;
  readonly #seconds: Histogram;
  #tally: Counts;
  #finished = false;

  constructor(tallies: Map<string, Map<string, Counts>>, seconds: Histogram, method: string, path: string) {
    this.#tallies = tallies;
    this.#seconds = seconds;
    this.#tally = tallyOf(tallies, path, method);
    this.#tally.inProgress += 1;
  }

  setRoute(route: string): void {
    const { method, forgotten } = this.#tally;
    if (this.#finished || forgotten) return;
    this.#tally.inProgress -= 1;
    this.#tally = tallyOf(this.#tallies, route, method);
    this.#tally.inProgress += 1;
  }

  finish({ statusCode, durationMs }: { statusCode: number; durationMs: number }): void {
    if (this.#finished) return;
    this.#finished = true;
    const { answers, forgotten } = this.#tally;
    if (forgotten) return;
    this.#tally.inProgress -= 1;
    answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
    this.#seconds.observe(durationMs / 1000);
  }
}

function tallyOf(tallies: Map<string, Map<string, Counts>>, path: string, method: string): Counts {
  let methods = tallies.get(path);
  if (methods === undefined) {
    methods = new Map();
    tallies.set(path, methods);
  }
  let tally = methods.get(method);
  if (tally === undefined) {
    tally = { method, path, inProgress: 0, answers: new Map(), forgotten: false };
    methods.set(method, tally);
  }
  return tally;
}

function* each(tallies: Map<string, Map<string, Counts>>): Generator<Counts> {
  for (const methods of tallies.values()) yield* methods.values();
}

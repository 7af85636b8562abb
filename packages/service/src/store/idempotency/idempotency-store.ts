import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { unchecked } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { asStoreErrors, StoreError } from '../database/errors.ts';
import { boundedText } from '../database/values.ts';

/** The right to do the work of a key, for as long as it is renewed. */
export interface IdempotencyClaim {
  readonly key: string;
  readonly token: string;
}

export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An idempotent request that makes something, and the answer to store with what it made. */
export interface Idempotent<T> {
  readonly claim: IdempotencyClaim;
  readonly of: (made: T) => StoredResponse;
}

export type IdempotencyOutcome =
  | { readonly replay: StoredResponse }
  | {
      readonly replay: null;
      readonly claim: IdempotencyClaim;
      /** Always call it at the end: a stored response stays; without one, the key is free for the next request. */
      release(): Promise<void>;
    };

export interface IdempotencyRequest {
  /** Who asks and the key of the request; 255 characters at most. */
  readonly key: string;
  /** SHA-256 of what is asked */
  readonly requestHash: Uint8Array;
  /** Ends the wait for another request with the same key. */
  readonly signal?: AbortSignal;
}

/** Requests that run once however often they are sent. Throws StoreError `unavailable` when the database cannot be reached. */
export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

export const createIdempotencyStore = (context: StoreContext) =>
  unchecked(context, {
    begin,
    purgeExpired,
    /** Stores the response of work that has no transaction. @throws StoreError `superseded` */
    complete: ({ pool }, claim: IdempotencyClaim, answer: StoredResponse) =>
      completeClaim(pool, claim, answer),
  });

/** A stored response is the summary of what was made: megabytes at most. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_HEADERS_BYTES = 64 * 1024;
/** How long an answer is kept. */
const KEPT_HOURS = 24;
/** A claim that is not renewed for so long is a dead process's. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 1_000;

/**
 * Claims a key, or gives the answer that it has. While another request works on it, this one waits; should that
 * one die, this one takes over.
 *
 * The answer is stored by the call that makes something (`DatasetDraft.commit`, `datasets.restore`, `runs.create`,
 * `jobs.create`) in its own transaction, or by `complete`.
 *
 * @throws StoreError `idempotency_key_reused` when the key came with another request; the signal's reason
 */
async function begin(
  { pool }: StoreContext,
  { key, requestHash, signal }: IdempotencyRequest,
): Promise<IdempotencyOutcome> {
  const token = randomUUID();
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    signal?.throwIfAborted();
    if (await claimKey(pool, key, requestHash, token)) {
      return { replay: null, claim: { key, token }, release: keepClaim(pool, { key, token }) };
    }
    const { rows } = await pool.query<KeyRow>(
      `SELECT request_hash, status, ${boundedText('headers', MAX_HEADERS_BYTES)} AS headers,
         ${boundedText('body', MAX_BODY_BYTES)} AS body, octet_length(body) > ${MAX_BODY_BYTES} AS "isTooLarge"
       FROM idempotency_keys WHERE key = $1 AND expires_at > clock_timestamp()`,
      [key],
    );
    const row = rows[0];
    if (row !== undefined) {
      if (!Buffer.from(requestHash).equals(row.request_hash)) {
        throw new StoreError('idempotency_key_reused', 'The idempotency key was used for another request.');
      }
      if (row.status !== null) {
        if (row.isTooLarge === true) throw new Error('the stored response is larger than one may be');
        const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
        return { replay: { status: row.status, headers, body: row.body ?? '' } };
      }
    }
    await delay(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
}

async function purgeExpired({ pool }: StoreContext): Promise<number> {
  const { rowCount } = await pool.query('DELETE FROM idempotency_keys WHERE expires_at <= clock_timestamp()');
  return rowCount ?? 0;
}

/** Stores an answer in the transaction of its work. @throws StoreError `superseded` when another has the key */
async function completeClaim(
  client: pg.ClientBase | pg.Pool,
  claim: IdempotencyClaim,
  answer: StoredResponse,
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE idempotency_keys SET status = $3, headers = $4, body = $5,
       expires_at = clock_timestamp() + interval '${KEPT_HOURS} hours'
     WHERE key = $1 AND claim = $2 AND status IS NULL`,
    [claim.key, claim.token, answer.status, JSON.stringify(answer.headers), answer.body],
  );
  if (rowCount === 0) {
    throw new StoreError('superseded', 'Another request with the same idempotency key has taken over.');
  }
}

/** Stores the answer to a request with what it has made, unless the request is not idempotent. @throws as {@link completeClaim} */
export async function completeFor<T>(
  client: pg.ClientBase,
  request: Idempotent<T> | null | undefined,
  made: T,
): Promise<void> {
  if (request) await completeClaim(client, request.claim, request.of(made));
}

/** Takes a key that is new, expired, or left behind by a process that died with the same request. */
async function claimKey(pool: pg.Pool, key: string, requestHash: Uint8Array, token: string) {
  const { rowCount } = await pool.query(
    `INSERT INTO idempotency_keys AS held (key, request_hash, claim, claimed_till, expires_at)
     VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond',
       clock_timestamp() + interval '${KEPT_HOURS} hours')
     ON CONFLICT (key) DO UPDATE SET request_hash = excluded.request_hash, claim = excluded.claim,
       claimed_till = excluded.claimed_till, expires_at = excluded.expires_at,
       status = NULL, headers = NULL, body = NULL
     WHERE held.expires_at <= clock_timestamp()
       OR (held.status IS NULL AND held.claimed_till <= clock_timestamp() AND held.request_hash = excluded.request_hash)`,
    [key, Buffer.from(requestHash), token, LEASE_MS],
  );
  return rowCount === 1;
}

/** Renews a claim until it is released. */
function keepClaim(pool: pg.Pool, { key, token }: IdempotencyClaim): () => Promise<void> {
  const timer = setInterval(() => {
    pool
      .query(
        `UPDATE idempotency_keys SET claimed_till = clock_timestamp() + $3 * interval '1 millisecond'
         WHERE key = $1 AND claim = $2 AND status IS NULL`,
        [key, token, LEASE_MS],
      )
      .catch(() => undefined); // Tried again; a lost claim is detected when it is completed.
  }, RENEW_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await asStoreErrors(() =>
      pool.query('DELETE FROM idempotency_keys WHERE key = $1 AND claim = $2 AND status IS NULL', [
        key,
        token,
      ]),
    );
  };
}

interface KeyRow {
  readonly request_hash: Buffer;
  readonly status: number | null;
  readonly headers: string | null;
  readonly body: string | null;
  readonly isTooLarge: boolean | null;
}

import { shorten } from '@svc/tabular/internal';
import { HubError, type HubErrorCode } from '../errors.ts';

/** What was asked for, as messages name it. */
export interface Subject {
  dataset: string;
  revision?: string;
  file?: string;
}

/** A refusal of the hub, reduced to what tells one reason from another. */
export interface Refusal {
  status: number;
  /** `X-Error-Code`. */
  errorCode: string | null;
  /** `X-Error-Message`, else the message in the body. */
  message: string;
  /** Whether the answer came from the hub itself and not from its file storage. */
  fromHub: boolean;
  /** Wait that the hub asked for, where it did. */
  waitMs?: number | null;
}

/**
 * Names the reason of a refusal: by `X-Error-Code`, then by the message, then by the status, in the order of
 * the hub's own client. A 401 means "missing or private", never that our caller is unauthenticated.
 */
export function errorHandler(refusal: Refusal, subject: Subject): HubError {
  const { status, errorCode, message, fromHub } = refusal;
  const dataset = shorten(subject.dataset);
  const make = (code: HubErrorCode, text: string): HubError =>
    new HubError(code, text, {
      details: { status, ...(refusal.waitMs == null ? {} : { retryAfterMs: refusal.waitMs }) },
    });

  if (!fromHub) {
    if (status === 429) return make('hub_rate_limited', `the hub's file storage limits the rate of requests`);
    const file = shorten(subject.file ?? '');
    if (status >= 500)
      return make('hub_unavailable', `the hub's file storage answered ${status} for ${file}`);
    return make('hub_bad_response', `the hub's file storage refused ${file} with status ${status}`);
  }

  if (errorCode === 'RevisionNotFound') return make('hub_revision_not_found', unknownRevision(subject));
  if (errorCode === 'EntryNotFound') {
    return make(
      'hub_bad_response',
      `the hub lists ${shorten(subject.file ?? '')} in ${dataset} but does not have it`,
    );
  }
  if (errorCode === 'GatedRepo') {
    return make(
      'hub_gated',
      status === 401
        ? `dataset ${dataset} is gated: it needs the token of an account that was granted access`
        : `dataset ${dataset} is gated, and the account of the token was not granted access`,
    );
  }
  if (status === 403 && /access to this resource is disabled/i.test(message)) {
    return make('hub_gated', `dataset ${dataset} was disabled by the hub`);
  }
  if (status === 401 && /invalid credentials/i.test(message)) {
    return make(
      'hub_dataset_not_found',
      `dataset ${dataset} cannot be read with this token: the hub does not accept it (mistyped, revoked or expired)`,
    );
  }
  if (errorCode === 'RepoNotFound' || status === 401 || status === 404) {
    return make('hub_dataset_not_found', `dataset ${dataset} does not exist on the hub, or is private`);
  }
  if (status === 403 || status === 451) {
    return make('hub_gated', `the hub refuses access to dataset ${dataset}${quoted(message)}`);
  }
  if (status === 429) return make('hub_rate_limited', 'the hub limits the rate of requests');
  if (status === 408 || status === 504) return make('hub_timeout', `the hub answered ${status}`);
  if (status >= 500) return make('hub_unavailable', `the hub answered ${status}`);
  return make('hub_bad_response', `the hub refused the request with status ${status}${quoted(message)}`);
}

/** Sentence for a revision that the repository does not have. */
export function unknownRevision(subject: Subject): string {
  return `dataset ${shorten(subject.dataset)} has no revision ${shorten(subject.revision ?? '')}`;
}

function quoted(message: string): string {
  return message === '' ? '' : `: ${shorten(message, 200)}`;
}

/** The message of an error body: `{"error": "..."}`, a list of them, `{"errors": [{"message"}]}`, or plain text. */
export function bodyMessage(contentType: string | null, body: string): string {
  if (/json/i.test(contentType ?? '')) {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return '';
    }
    if (typeof value !== 'object' || value === null) return '';
    const { error, errors, error_description: description } = value as Record<string, unknown>;
    for (const candidate of [error, errors, description]) {
      const texts = (Array.isArray(candidate) ? candidate : [candidate])
        .map((one: unknown) =>
          typeof one === 'object' && one !== null ? (one as { message?: unknown }).message : one,
        )
        .filter((one): one is string => typeof one === 'string');
      if (texts.length > 0) return texts.join('; ');
    }
    return '';
  }
  return /html/i.test(contentType ?? '') ? '' : body.trim();
}

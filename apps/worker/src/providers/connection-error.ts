import { RunError } from '@svc/evaluation';
import { ProxyError } from '@svc/hub-client/egress';
import type { FailedAttempt } from './attempt.ts';
import { ForbiddenDestination } from './provider-dispatcher.ts';

/** Prefixes of the codes of certificate and TLS errors in Node and OpenSSL. */
const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/;

/**
 * Why there is no response, in one fixed sentence per class: the author of a run chooses the destination, and must not
 * learn from the message which ports are open in the worker's network.
 */
export function connectionError(cause: unknown): Omit<FailedAttempt, 'statusCode'> {
  // The error code of the system.
  const reason = errorCode(cause);
  const ended = (
    code: 'provider_forbidden' | 'provider_not_found',
    message: string,
  ): ReturnType<typeof connectionError> => ({
    error: new RunError(code, message, { endsRun: true, cause }),
    reason,
  });
  const transient = (
    code: 'provider_timeout' | 'provider_unavailable',
    message: string,
  ): ReturnType<typeof connectionError> => ({
    error: new RunError(code, message, { cause }),
    reason,
    retry: { headers: {} },
  });
  if (cause instanceof ForbiddenDestination) {
    return ended('provider_forbidden', 'The worker does not allow requests to this destination.');
  }
  if (cause instanceof ProxyError) {
    return transient('provider_unavailable', 'Cannot connect to the proxy of the worker.');
  }
  if (reason === 'ENOTFOUND') return ended('provider_not_found', "Cannot resolve the provider's host name.");
  if (reason === 'UND_ERR_CONNECT_TIMEOUT' || reason === 'ETIMEDOUT') return transient(...TIMED_OUT);
  if (TLS_CODE.test(reason)) {
    return transient('provider_unavailable', 'Cannot connect to the provider: the TLS handshake failed.');
  }
  return transient('provider_unavailable', 'Cannot connect to the provider, or the connection broke.');
}

/** The code and message of a request that took too long at any stage. */
export const TIMED_OUT = ['provider_timeout', 'Timed out waiting for the provider.'] as const;

function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' && code !== '' ? code : 'connection error';
}

import { CliError } from '../../errors/cli-error.ts';
import { type FieldError, ServiceError } from './service-error.ts';

/** The parts of a response that say why a request failed. */
export interface FailedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * Turns a failed response into an error. The body has the members of RFC 9457 and `code`; a response of a proxy or
 * another server becomes `bad_response`.
 */
export function parseProblem(response: FailedResponse): Error {
  const target = response.status < 400 ? headerOf(response, 'location') : undefined;
  if (target !== undefined) {
    const message = `The service returned status ${response.status} with a redirect to ${target.slice(0, 500)}; --api-url must be its own address`;
    return new CliError('bad_response', message);
  }
  const body = parseObject(response.text);
  const code = body?.['code'];
  if (body === null || typeof code !== 'string' || !/^[a-z][a-z0-9_]*$/.test(code)) {
    const type = headerOf(response, 'content-type') ?? 'no content type';
    return new CliError(
      'bad_response',
      `The service returned status ${response.status} with ${type} instead of a problem document`,
    );
  }
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isFieldError).slice(0, 100) : [];
  const total = body['errors_total'];
  const retryAfter = Number(headerOf(response, 'retry-after') ?? Number.NaN);
  const message = [body['detail'], body['title']].find((text) => typeof text === 'string' && text !== '');
  return new ServiceError(
    code,
    typeof message === 'string' ? message : `The service returned status ${response.status}`,
    {
      status: response.status,
      errors: errors.map(locatedError),
      errorsTotal: typeof total === 'number' ? total : errors.length,
      requestId: headerOf(response, 'x-request-id'),
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
    },
  );
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFieldError = (value: unknown): value is Record<string, unknown> & { message: string } =>
  isObject(value) && typeof value['message'] === 'string';

/** Only the known members, and only if they have the right type. */
function locatedError(error: Record<string, unknown> & { message: string }): FieldError {
  const text = (key: string) => (typeof error[key] === 'string' ? { [key]: error[key] } : {});
  const count = (key: string) => (typeof error[key] === 'number' ? { [key]: error[key] } : {});
  return {
    message: error.message,
    ...text('code'),
    ...text('path'),
    ...text('file'),
    ...count('line'),
    ...count('column'),
    ...count('row'),
  };
}

function headerOf(response: FailedResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

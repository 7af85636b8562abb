import { CliError } from '../errors/cli-error.ts';
import { type FieldError, ServiceError } from './service-error.ts';

/** The parts of an answer that say why a request failed. */
export interface FailedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * The error that a failed answer stands for. Its body has the members of RFC 9457 and `code`; an answer of something
 * else on the way (a proxy, another server) is `bad_response`.
 */
export function parseProblem(answer: FailedResponse): Error {
  const body = parseObject(answer.text);
  const code = body?.['code'];
  if (body === null || typeof code !== 'string' || !/^[a-z][a-z0-9_]*$/.test(code)) {
    const type = headerOf(answer, 'content-type') ?? 'no content type';
    return new CliError(
      'bad_response',
      `The service answered with status ${answer.status} and ${type} instead of an explanation`,
    );
  }
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isFieldError).slice(0, 100) : [];
  const total = body['errors_total'];
  const retryAfter = Number(headerOf(answer, 'retry-after') ?? Number.NaN);
  const message = [body['detail'], body['title']].find((text) => typeof text === 'string' && text !== '');
  return new ServiceError(
    code,
    typeof message === 'string' ? message : `The service answered with status ${answer.status}`,
    {
      status: answer.status,
      errors: errors.map(locatedError),
      errorsTotal: typeof total === 'number' ? total : errors.length,
      requestId: headerOf(answer, 'x-request-id'),
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

/** Only the members that are known, and only where they have their type. */
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

function headerOf(answer: FailedResponse, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

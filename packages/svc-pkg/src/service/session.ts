import type { ResponseOf } from '@svc/client';
import { CliError } from '../errors/cli-error.ts';
import type { ServiceClient } from './service-client.ts';

export type Session = ResponseOf<'/session', 'get'>;

/**
 * Who a service takes this client for.
 *
 * @throws CliError `bad_response`; as `ServiceClient.send`
 */
export async function readSession(service: ServiceClient): Promise<Session> {
  const { value } = await service.read(service.api.GET('/session'));
  if (typeof value?.role === 'string') return value;
  throw new CliError('bad_response', `${service.url}/session returned no role`);
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * URL of an embedded server as its superuser: tests make databases, roles and tablespaces, which the service may not.
 *
 * @param url of the server, as the service has it
 * @param dataDir data folder of the service
 */
export async function superuserUrl(url: string, dataDir: string): Promise<string> {
  const own = new URL(url);
  own.username = 'postgres';
  own.password = (await readFile(join(dataDir, 'postgres/password'), 'utf8')).trim();
  return own.href;
}

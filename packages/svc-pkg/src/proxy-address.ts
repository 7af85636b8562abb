import { CliError } from './errors/cli-error.ts';

const PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks:']);

/**
 * The address of the proxy that a variable of the environment names. Without a scheme (`proxy.example:3128`), as curl and
 * others accept it, it is that of an HTTP proxy.
 *
 * @param name of the variable, for the error
 * @returns undefined for none
 * @throws CliError `usage`, without the value: it may hold credentials
 */
export function proxyAddress(name: string, value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined;
  const address = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.parse(address);
  if (url !== null && PROTOCOLS.has(url.protocol) && url.hostname !== '') return address;
  throw new CliError('usage', `${name} must be the address of a proxy, such as http://proxy.example:3128`);
}

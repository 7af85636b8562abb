import type { NetConnectOpts } from 'node:net';

/** Where the server of a postgresql:// URL listens, for `net.connect`: a socket whose folder is the host, or a port. */
export function serverAddress(url: string): NetConnectOpts {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port || 5432}` } : { host, port: Number(port) };
}

/** The same database through a line to its server. */
export function throughLine(url: string, line: { readonly port: number }): string {
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(line.port);
  return through.href;
}

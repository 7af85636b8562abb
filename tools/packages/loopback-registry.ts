import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Dependency } from './dependencies.ts';

/** What npm sends to publish a version. */
export interface Publication {
  readonly name: string;
  readonly 'dist-tags': Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
  readonly access: string;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

export interface LoopbackRegistry extends AsyncDisposable {
  /** With a slash at the end. */
  readonly url: string;
  /** In the order in which they were published. */
  readonly published: Publication[];
}

/**
 * A registry of npm on the loopback interface. It takes what is published and serves it, and it serves packages of others from
 * folders in which they are installed, so that nothing comes from a network.
 */
export async function startLoopbackRegistry(
  installed: readonly Dependency[] = [],
): Promise<LoopbackRegistry> {
  const published: Publication[] = [];
  const answer = async (request: IncomingMessage): Promise<object | Buffer | null> => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    if (request.method === 'PUT') {
      published.push((await json(request)) as Publication);
      return {};
    }
    const [, name = path, file] = /^(.+)\/-\/(.+)$/.exec(path) ?? [];
    const own = published.find((one) => one.name === name);
    const versions = installed.filter(({ manifest }) => manifest.name === name);
    if (file !== undefined) {
      if (own !== undefined) return Buffer.from(Object.values(own._attachments)[0]?.data ?? '', 'base64');
      const found = versions.find(({ manifest }) => file === `${manifest.version}.tgz`);
      return found === undefined ? null : await tarballOf(found);
    }
    return (
      own ?? (versions.length === 0 ? null : packumentOf(name, versions, `http://${request.headers.host}/`))
    );
  };
  const server = createServer(async (request, response) => {
    const found = await answer(request);
    if (Buffer.isBuffer(found)) return void response.end(found);
    response
      .writeHead(found === null ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(found ?? { error: 'not found' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    published,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** What npm reads of a package before it chooses a version. */
function packumentOf(name: string, versions: readonly Dependency[], registry: string): object {
  const entries = versions.map(({ manifest }) => {
    const tarball = `${registry}${name}/-/${manifest.version}.tgz`;
    // Nothing of what it was developed with, and nothing to run after an installation.
    const { devDependencies: _, scripts: __, ...rest } = manifest as unknown as Record<string, unknown>;
    return [manifest.version, { ...rest, dist: { tarball } }] as const;
  });
  return { name, 'dist-tags': { latest: entries.at(-1)?.[0] }, versions: Object.fromEntries(entries) };
}

async function tarballOf({ folder }: Dependency): Promise<Buffer> {
  const args = ['-cz', '--exclude=./node_modules', '--transform=s,^\\.,package,', '-C', folder, '.'];
  const { stdout } = await promisify(execFile)('tar', args, { encoding: 'buffer', maxBuffer: 1 << 28 });
  return stdout;
}

import { mkdtemp, readdir, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

/** A real S3 server on the loopback interface, with one bucket, `assets`. */
export interface TestS3 extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Names of the stored objects. */
  objects(): Promise<string[]>;
  /** Removes the bytes of an object behind the server's back. */
  lose(name: string): Promise<void>;
}

/** The only credentials that the server accepts, as the variables that the SDK reads. */
export const S3_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
  AWS_REGION: 'us-east-1',
};

/** The files in which the server keeps an object. */
const FILE = /\._S3rver_(object|metadata\.json|object\.md5)$/;

export async function startS3(): Promise<TestS3> {
  const directory = await mkdtemp(join(tmpdir(), 's3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'assets', configs: [] }],
  });
  const { port } = await server.run();
  const files = async (): Promise<string[]> =>
    (await readdir(join(directory, 'assets'), { recursive: true })).filter((name) => FILE.test(name));
  return {
    url: `http://127.0.0.1:${port}`,
    async objects() {
      // An upload that was interrupted leaves a file without metadata.
      const complete = (await files()).filter((name) => name.endsWith('metadata.json'));
      return complete.map((name) => name.replace(FILE, '')).sort();
    },
    async lose(name) {
      for (const file of await files()) {
        if (file.replace(FILE, '') === name) await unlink(join(directory, 'assets', file));
      }
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

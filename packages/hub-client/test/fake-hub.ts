/**
 * A dataset hub on the loopback interface: the hub itself and, on another origin, the file storage to which
 * it redirects. It behaves as the public hub does, records its requests, and fails on request. It depends on nothing but Node, so that any test suite can use it.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** A file that is made where it is read, for repositories larger than memory. */
interface VirtualFile {
  byteLength: number;
  /** Lower-case hex; stated by the hub when present. */
  sha256?: string;
  read(start: number, end: number): Uint8Array;
}

type FakeFile = string | Uint8Array | VirtualFile;

export interface FakeRepository {
  /** `owner/name`, or one legacy name. */
  id: string;
  /** Files of the branch `main`. */
  files: Record<string, FakeFile>;
  /** Files of other branches, tags and refs, such as `refs/convert/parquet`. */
  revisions?: Record<string, Record<string, FakeFile>>;
  /** Who may read: `gated` repositories show their listing to all and their files to `readers`. */
  access?: 'public' | 'private' | 'gated' | 'disabled';
  /** Tokens that may read a private or gated repository. */
  readers?: readonly string[];
  /** Further members of the info answer: `description`, `citation`, `cardData`, `tags`. */
  info?: Record<string, unknown>;
  /** Whether a file is kept in the file storage; by default Parquet, archives, media and all over 1 MiB. */
  lfs?: (path: string, byteLength: number) => boolean;
}

/** What goes wrong with a matching request. */
export type Fault =
  /** Answers with a status instead. */
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: string }
  /** Declares the whole body, sends this many bytes of it and breaks the connection. */
  | { kind: 'cut'; afterBytes: number }
  /** Ends the body cleanly after this many bytes, without a declared length. */
  | { kind: 'short'; afterBytes: number }
  /** Sends this many bytes and then nothing. */
  | { kind: 'stall'; afterBytes: number }
  /** Accepts the request and never answers. */
  | { kind: 'silent' }
  /** Answers 200 with a page of HTML. */
  | { kind: 'html' }
  /** Answers with bytes that are not HTTP. */
  | { kind: 'garbage' }
  /** Sends the right number of wrong bytes. */
  | { kind: 'corrupt' }
  /** Answers 200 with the whole file to a range request. */
  | { kind: 'ignore_range' }
  /** Compresses the body on the way and leaves its length out. */
  | { kind: 'gzip' };

interface FaultRule {
  /** Tested against `<origin> <path and query>`, such as `storage /lfs/...` or `hub /api/datasets/...`. */
  match: RegExp;
  fault: Fault;
  /** How many matching requests fail; all by default. */
  times?: number;
  /** How many matching requests are served before. */
  after?: number;
}

interface RecordedRequest {
  origin: 'hub' | 'storage';
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingMessage['headers'];
  /** Port of the client's end: one connection, one number. */
  port: number;
  status: number;
  /** Bytes of the body that were sent. */
  bytes: number;
}

export interface FakeHub extends AsyncDisposable {
  /** Origin of the hub, to be used as the endpoint. */
  readonly endpoint: string;
  readonly storageOrigin: string;
  /** Everything asked so far, of both origins. */
  readonly requests: RecordedRequest[];
  /** Tokens that are known; any other is refused. */
  readonly tokens: Set<string>;
  /** Entries of one page of a listing. */
  pageSize: number;
  /** Budget of the current window, or null for none; counts down with every request to the hub. */
  rateLimit: { remaining: number; resetSeconds: number; retryAfter?: string } | null;
  add(repository: FakeRepository): void;
  /** From now on `from` redirects to `to`. */
  rename(from: string, to: string): void;
  fail(rule: FaultRule): void;
  /** Every address that was handed out so far is refused from now on. */
  expireSignedUrls(): void;
  /** Commit of a branch, tag or ref. */
  commitOf(id: string, revision?: string): string;
  /** Forgets requests and faults. */
  forget(): void;
  totalBytes(): number;
  close(): Promise<void>;
}

interface StoredFile {
  path: string;
  file: VirtualFile;
  lfs: boolean;
  /** Git's name of the blob. */
  oid: string;
  sha256: string | null;
}

interface Snapshot {
  commit: string;
  files: Map<string, StoredFile>;
}

interface StoredRepository {
  source: FakeRepository;
  snapshots: Map<string, Snapshot>;
}

const LFS_NAMES = /\.(parquet|arrow|gz|zst|bz2|xz|zip|tar|png|jpe?g|wav|mp3|mp4|bin)$/;

/** Starts both origins on free ports of the loopback interface. */
export async function startFakeHub(...repositories: readonly FakeRepository[]): Promise<FakeHub> {
  const stored = new Map<string, StoredRepository>();
  const renamed = new Map<string, string>();
  const rules: Array<FaultRule & { seen: number }> = [];
  const requests: RecordedRequest[] = [];
  const tokens = new Set<string>();
  let issue = 0;
  let validFrom = 0;

  const hubServer = createServer((request, response) => serve('hub', request, response));
  const storageServer = createServer((request, response) => serve('storage', request, response));
  const [endpoint, storageOrigin] = await Promise.all([listen(hubServer), listen(storageServer)]);

  const hub: FakeHub = {
    endpoint,
    storageOrigin,
    requests,
    tokens,
    pageSize: 1000,
    rateLimit: null,
    add(repository) {
      const snapshots = new Map<string, Snapshot>();
      for (const [revision, files] of Object.entries({ main: repository.files, ...repository.revisions })) {
        snapshots.set(revision, takeSnapshot(repository, revision, files));
      }
      stored.set(repository.id, { source: repository, snapshots });
      for (const token of repository.readers ?? []) tokens.add(token);
    },
    rename(from, to) {
      renamed.set(from, to);
    },
    fail(rule) {
      rules.push({ ...rule, seen: 0 });
    },
    expireSignedUrls() {
      validFrom = issue;
    },
    commitOf(id, revision = 'main') {
      const snapshot = stored.get(id)?.snapshots.get(revision);
      if (snapshot === undefined) throw new Error(`no revision ${revision} of ${id}`);
      return snapshot.commit;
    },
    forget() {
      requests.length = 0;
      rules.length = 0;
    },
    totalBytes: () => requests.reduce((sum, request) => sum + request.bytes, 0),
    async close() {
      await Promise.all([stop(hubServer), stop(storageServer)]);
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
  for (const repository of repositories) hub.add(repository);
  return hub;

  function serve(origin: 'hub' | 'storage', request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '/';
    const record: RecordedRequest = {
      origin,
      method: request.method ?? '',
      path,
      headers: request.headers,
      port: request.socket.remotePort ?? 0,
      status: 0,
      bytes: 0,
    };
    requests.push(record);
    request.resume();
    const exchange = new Exchange(request, response, record, faultFor(`${origin} ${path}`));
    if (exchange.fails()) return;
    if (origin === 'storage') serveStorage(exchange);
    else serveHub(exchange);
  }

  function faultFor(target: string): Fault | null {
    for (const rule of rules) {
      if (!rule.match.test(target)) continue;
      rule.seen += 1;
      const nth = rule.seen - (rule.after ?? 0);
      if (nth >= 1 && nth <= (rule.times ?? Number.POSITIVE_INFINITY)) return rule.fault;
    }
    return null;
  }

  function serveHub(exchange: Exchange): void {
    const { pathname, searchParams } = exchange.url;
    if (!passesRateLimit(exchange, pathname.includes('/resolve/') ? 'resolvers' : 'api')) return;
    const token = /^Bearer (.*)$/.exec(exchange.request.headers.authorization ?? '')?.[1];
    if (token !== undefined && !tokens.has(token)) {
      exchange.refuse(401, null, 'Invalid credentials in Authorization header');
      return;
    }
    const cached = /^\/api\/resolve-cache\/datasets\/((?:[^/]+\/)?[^/]+)\/([0-9a-f]{40})\/(.+)$/.exec(
      pathname,
    );
    const resolved = /^\/datasets\/((?:[^/]+\/)?[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(pathname);
    const api =
      /^\/api\/datasets\/((?:[^/]+\/)?[^/]+?)(?:\/(revision|tree)\/([^/]+)(?:\/(.+))?|\/(refs|auth-check))?$/.exec(
        pathname,
      );
    if (pathname === '/api/datasets') {
      serveSearch(exchange, token);
      return;
    }
    const id = cached?.[1] ?? resolved?.[1] ?? api?.[1];
    if (id === undefined) {
      exchange.send(404, { 'content-type': 'text/html' }, '<html>Not here</html>');
      return;
    }
    const current = renamed.get(id);
    if (current !== undefined) {
      const location = exchange.request.url?.replace(`datasets/${id}`, `datasets/${current}`) ?? '';
      exchange.send(307, { 'content-type': 'text/plain; charset=utf-8', location }, '');
      return;
    }
    const repository = stored.get(id);
    const { access = 'public', readers = [] } = repository?.source ?? {};
    const mayRead = access === 'public' || (token !== undefined && readers.includes(token));
    if (repository === undefined || (access === 'private' && !mayRead)) {
      if (token === undefined) exchange.refuse(401, null, 'Invalid username or password.');
      else exchange.refuse(404, 'RepoNotFound', 'Repository not found');
      return;
    }
    const readsFiles = cached !== null || resolved !== null || api?.[5] === 'auth-check';
    if (readsFiles && access === 'gated' && !mayRead) {
      exchange.refuse(
        token === undefined ? 401 : 403,
        'GatedRepo',
        `Access to dataset ${id} is restricted.${token === undefined ? ' Please log in.' : ''}`,
      );
      return;
    }
    if (readsFiles && access === 'disabled') {
      exchange.refuse(403, null, 'Access to this resource is disabled.');
      return;
    }
    if (api?.[5] === 'auth-check') {
      exchange.json(200, {});
      return;
    }
    if (api?.[5] === 'refs') {
      serveRefs(exchange, repository);
      return;
    }
    const revision = decodeURIComponent(cached?.[2] ?? resolved?.[2] ?? api?.[3] ?? 'main');
    const snapshot = findSnapshot(repository, revision);
    if (snapshot === undefined) {
      exchange.refuse(404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
      return;
    }
    if (api?.[2] === 'tree') serveTree(exchange, snapshot, decodeURIComponent(api[4] ?? ''));
    else if (api !== null) serveInfo(exchange, repository, snapshot, searchParams.getAll('expand'));
    else
      serveFile(
        exchange,
        id,
        snapshot,
        decodeURIComponent(cached?.[3] ?? resolved?.[3] ?? ''),
        cached !== null,
      );
  }

  function serveSearch(exchange: Exchange, token: string | undefined): void {
    const { searchParams } = exchange.url;
    const search = searchParams.get('search')?.toLowerCase() ?? '';
    const found = [...stored.values()]
      .map(({ source }) => source)
      .filter(({ id, access, readers = [] }) => {
        const mayRead = token !== undefined && readers.includes(token);
        return id.toLowerCase().includes(search) && (access !== 'private' || mayRead);
      })
      .map(({ id, access, info }) => ({
        ...{ _id: '621ffdd236468d709f181d00', id, downloads: id.length, likes: 1, tags: [] },
        ...{ private: access === 'private', gated: access === 'gated' ? 'auto' : false, ...info },
      }));
    exchange.json(200, found.slice(0, Number(searchParams.get('limit') ?? 20)));
  }

  function passesRateLimit(exchange: Exchange, bucket: string): boolean {
    const limit = hub.rateLimit;
    if (limit === null) return true;
    const used = limit.remaining <= 0;
    if (!used) limit.remaining -= 1;
    exchange.response.setHeader('ratelimit', `"${bucket}";r=${limit.remaining};t=${limit.resetSeconds}`);
    exchange.response.setHeader('ratelimit-policy', `"fixed window";"${bucket}";q=500;w=300`);
    if (!used) return true;
    if (limit.retryAfter !== undefined) exchange.response.setHeader('retry-after', limit.retryAfter);
    exchange.json(429, { error: 'Too Many Requests' });
    return false;
  }

  function serveInfo(
    exchange: Exchange,
    { source }: StoredRepository,
    snapshot: Snapshot,
    expand: readonly string[],
  ): void {
    const all: Record<string, unknown> = {
      _id: '621ffdd236468d709f181d00',
      id: source.id,
      author: source.id.split('/')[0],
      sha: snapshot.commit,
      lastModified: '2026-01-02T03:04:05.000Z',
      private: source.access === 'private',
      gated: source.access === 'gated' ? 'auto' : false,
      disabled: source.access === 'disabled',
      tags: [],
      siblings: [...snapshot.files.keys()].map((rfilename) => ({ rfilename })),
      ...source.info,
    };
    const kept = expand.length === 0 ? all : { _id: all['_id'], id: all['id'] };
    for (const field of expand)
      if (all[field] !== undefined) (kept as Record<string, unknown>)[field] = all[field];
    exchange.json(200, kept);
  }

  function serveTree(exchange: Exchange, snapshot: Snapshot, folder: string): void {
    const { searchParams } = exchange.url;
    const recursive = searchParams.get('recursive') === 'true';
    const prefix = folder === '' ? '' : `${folder}/`;
    const entries: unknown[] = [];
    const folders = new Set<string>();
    for (const [path, stored] of [...snapshot.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!path.startsWith(prefix)) continue;
      const parts = path.slice(prefix.length).split('/');
      for (let depth = 1; depth < parts.length && (recursive || depth === 1); depth += 1) {
        const parent = prefix + parts.slice(0, depth).join('/');
        if (folders.has(parent)) continue;
        folders.add(parent);
        entries.push({ type: 'directory', oid: sha1(parent), size: 0, path: parent });
      }
      if (parts.length > 1 && !recursive) continue;
      const { file, lfs, oid, sha256 } = stored;
      entries.push({
        type: 'file',
        oid,
        size: file.byteLength,
        ...(lfs ? { lfs: { oid: sha256, size: file.byteLength, pointerSize: 134 } } : {}),
        path,
      });
    }
    if (entries.length === 0 && folder !== '') {
      exchange.refuse(404, 'EntryNotFound', 'Entry not found');
      return;
    }
    const at = Number(Buffer.from(searchParams.get('cursor') ?? '', 'base64').toString() || '0');
    const size = Math.min(Number(searchParams.get('limit') ?? hub.pageSize), hub.pageSize);
    const headers: Record<string, string> = {};
    if (at + size < entries.length) {
      const next = new URL(exchange.url.href);
      next.searchParams.set('cursor', Buffer.from(String(at + size)).toString('base64'));
      headers['link'] = `<${next.href}>; rel="next"`;
    }
    exchange.json(200, entries.slice(at, at + size), headers);
  }

  function serveRefs(exchange: Exchange, { snapshots }: StoredRepository): void {
    const named = (prefix: string) =>
      [...snapshots]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, { commit }]) => ({ name: name.slice(prefix.length), ref: name, targetCommit: commit }));
    const branches = [...snapshots]
      .filter(([name]) => !name.startsWith('refs/'))
      .map(([name, { commit }]) => ({ name, ref: `refs/heads/${name}`, targetCommit: commit }));
    exchange.json(200, { branches, tags: named('refs/tags/'), converts: named('refs/convert/') });
  }

  function serveFile(
    exchange: Exchange,
    id: string,
    snapshot: Snapshot,
    path: string,
    cached: boolean,
  ): void {
    const file = snapshot.files.get(path);
    exchange.response.setHeader('x-repo-commit', snapshot.commit);
    if (file === undefined) {
      exchange.refuse(404, 'EntryNotFound', 'Entry not found');
      return;
    }
    if (!file.lfs) {
      if (cached) {
        exchange.content(file.file, `"${file.oid}"`);
        return;
      }
      const location = `/api/resolve-cache/datasets/${id}/${snapshot.commit}/${path.split('/').map(encodeURIComponent).join('/')}?etag=%22${file.oid}%22`;
      exchange.send(307, { location }, '');
      return;
    }
    issue += 1;
    const query = new URLSearchParams({
      id,
      commit: snapshot.commit,
      path,
      Expires: String(issue),
      Signature: 's3cret',
    });
    exchange.send(
      302,
      {
        location: `${storageOrigin}/lfs/${file.oid}?${query}`,
        'x-linked-size': String(file.file.byteLength),
        ...(file.sha256 === null ? {} : { 'x-linked-etag': `"${file.sha256}"` }),
        'x-xet-hash': sha256(`xet ${file.oid}`),
        'accept-ranges': 'bytes',
        'cache-control': 'no-store',
        'content-type': 'text/plain; charset=utf-8',
      },
      'Found. Redirecting',
    );
  }

  function serveStorage(exchange: Exchange): void {
    const { searchParams } = exchange.url;
    if (Number(searchParams.get('Expires')) <= validFrom) {
      exchange.send(403, { 'content-type': 'application/xml' }, '<Error><Code>AccessDenied</Code></Error>');
      return;
    }
    const repository = stored.get(searchParams.get('id') ?? '');
    const snapshot = repository && findSnapshot(repository, searchParams.get('commit') ?? '');
    const file = snapshot?.files.get(searchParams.get('path') ?? '');
    if (file === undefined) exchange.send(404, {}, 'not found');
    else exchange.content(file.file, `"${sha256(`xet ${file.oid}`)}"`);
  }
}

/** One request and what is sent back for it. */
class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: RecordedRequest;
  readonly fault: Fault | null;
  readonly url: URL;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    record: RecordedRequest,
    fault: Fault | null,
  ) {
    this.request = request;
    this.response = response;
    this.record = record;
    this.fault = fault;
    this.url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    response.setHeader('x-request-id', `Root=1-${record.path.length}`);
  }

  /** Handles the faults that leave nothing to answer. */
  fails(): boolean {
    const { fault, response } = this;
    if (fault === null) return false;
    if (fault.kind === 'silent') return true;
    if (fault.kind === 'garbage') {
      response.socket?.end('\u0001\u0002 this is not HTTP\r\n\r\n');
      return true;
    }
    if (fault.kind === 'html') {
      this.send(200, { 'content-type': 'text/html; charset=utf-8' }, '<!doctype html><title>Welcome</title>');
      return true;
    }
    if (fault.kind === 'status') {
      this.send(fault.status, fault.headers ?? {}, fault.body ?? '');
      return true;
    }
    return false;
  }

  json(status: number, body: unknown, headers: Record<string, string> = {}): void {
    this.send(
      status,
      { 'content-type': 'application/json; charset=utf-8', ...headers },
      JSON.stringify(body),
    );
  }

  refuse(status: number, errorCode: string | null, message: string): void {
    const headers: Record<string, string> = { 'x-error-message': message };
    if (errorCode !== null) headers['x-error-code'] = errorCode;
    if (status === 401)
      headers['www-authenticate'] = 'Bearer realm="Authentication required", charset="UTF-8"';
    if (this.url.pathname.startsWith('/api/datasets')) this.json(status, { error: message }, headers);
    else this.send(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }, message);
  }

  send(status: number, headers: Record<string, string>, body: string): void {
    const bytes = new TextEncoder().encode(body);
    this.body(status, headers, {
      byteLength: bytes.length,
      read: (start, end) => bytes.subarray(start, end),
    });
  }

  /** A file or the range of it that was asked for. */
  content(file: VirtualFile, etag: string): void {
    const headers: Record<string, string> = { etag, 'accept-ranges': 'bytes' };
    if (this.request.headers['if-none-match'] === etag) {
      this.send(304, headers, '');
      return;
    }
    const range = /^bytes=(\d+)-(\d*)$/.exec(this.request.headers.range ?? '');
    const ifRange = this.request.headers['if-range'];
    const whole =
      range === null || this.fault?.kind === 'ignore_range' || (ifRange !== undefined && ifRange !== etag);
    if (whole) {
      this.body(200, headers, file);
      return;
    }
    const start = Number(range[1]);
    const end = Math.min(range[2] === '' ? file.byteLength : Number(range[2]) + 1, file.byteLength);
    if (start >= end) {
      this.send(416, { ...headers, 'content-range': `bytes */${file.byteLength}` }, '');
      return;
    }
    headers['content-range'] = `bytes ${start}-${end - 1}/${file.byteLength}`;
    const part: VirtualFile = {
      byteLength: end - start,
      read: (from, to) => file.read(start + from, start + to),
    };
    this.body(206, headers, part);
  }

  /** Sends a body in pieces, as fast as it is taken, and breaks it as the fault says. */
  body(status: number, headers: Record<string, string>, body: VirtualFile): void {
    const { response, record, fault } = this;
    record.status = status;
    let source = body;
    if (fault?.kind === 'gzip') {
      const packed = gzipSync(body.read(0, body.byteLength));
      source = { byteLength: packed.length, read: (start, end) => packed.subarray(start, end) };
    }
    const limit = fault !== null && 'afterBytes' in fault ? fault.afterBytes : source.byteLength;
    const undeclared = fault?.kind === 'short' || fault?.kind === 'gzip';
    response.writeHead(status, {
      ...headers,
      ...(undeclared ? {} : { 'content-length': String(source.byteLength) }),
      ...(fault?.kind === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    });
    if (this.request.method === 'HEAD') {
      response.end();
      return;
    }
    let at = 0;
    const step = (): void => {
      while (at < Math.min(limit, source.byteLength) && !response.destroyed) {
        const end = Math.min(at + 128 * 1024, limit, source.byteLength);
        const piece =
          fault?.kind === 'corrupt' ? source.read(at, end).map((byte) => byte ^ 0x55) : source.read(at, end);
        at = end;
        record.bytes += piece.length;
        if (!response.write(piece)) {
          response.once('drain', step);
          return;
        }
      }
      if (fault?.kind === 'stall') return;
      // What was written must be on its way before the connection goes.
      if (fault?.kind === 'cut') setTimeout(() => response.socket?.destroy(), 10);
      else response.end();
    };
    if (fault?.kind === 'cut' || fault?.kind === 'stall') response.flushHeaders();
    step();
  }
}

function takeSnapshot(
  repository: FakeRepository,
  revision: string,
  files: Record<string, FakeFile>,
): Snapshot {
  const snapshot = new Map<string, StoredFile>();
  const listing = createHash('sha1').update(`${repository.id} ${revision}`);
  for (const [path, source] of Object.entries(files)) {
    const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source;
    const file: VirtualFile =
      bytes instanceof Uint8Array
        ? {
            byteLength: bytes.length,
            sha256: sha256(bytes),
            read: (start, end) => bytes.subarray(start, end),
          }
        : bytes;
    const lfs =
      repository.lfs?.(path, file.byteLength) ?? (LFS_NAMES.test(path) || file.byteLength > 1024 * 1024);
    const oid = sha1(`blob ${path} ${file.byteLength} ${file.sha256 ?? ''}`);
    snapshot.set(path, { path, file, lfs, oid, sha256: file.sha256 ?? null });
    listing.update(` ${oid}`);
  }
  return { commit: listing.digest('hex'), files: snapshot };
}

function findSnapshot(repository: StoredRepository, revision: string): Snapshot | undefined {
  const { snapshots } = repository;
  const named =
    snapshots.get(revision === 'HEAD' ? 'main' : revision) ?? snapshots.get(`refs/tags/${revision}`);
  if (named !== undefined) return named;
  if (!/^[0-9a-f]{7,40}$/.test(revision)) return undefined;
  return [...snapshots.values()].find(({ commit }) => commit.startsWith(revision));
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

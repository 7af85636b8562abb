import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../packages/service/src/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

/** The stages of the Dockerfile by name, each as its instructions in order. */
const stages = new Map(
  read('Dockerfile')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split(/^(?=FROM )/m)
    .filter((text) => text.startsWith('FROM '))
    .map((text) => {
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      const [, platform, from = '', name = ''] =
        /^FROM (?:--platform=(\S+) )?(\S+) AS (\S+)$/.exec(lines[0] ?? '') ?? [];
      return [name, { from, platform, lines: lines.slice(1) }] as const;
    }),
);

/** Renovate pins images by it. */
const DIGEST = '(?:@sha256:[0-9a-f]{64})?';

describe('renovate.json', () => {
  const renovate = JSON.parse(read('renovate.json'));

  it('pins images and actions by digest', () => {
    expect(renovate.extends).toEqual(
      expect.arrayContaining(['docker:pinDigests', 'helpers:pinGitHubActionDigests']),
    );
  });

  it('changes pnpm wherever it is named', () => {
    const [{ managerFilePatterns, matchStrings }] = renovate.customManagers as [
      { managerFilePatterns: readonly string[]; matchStrings: readonly string[] },
    ];
    const patterns = managerFilePatterns.map((pattern) => new RegExp(pattern.slice(1, -1)));
    const naming = execFileSync('git', ['grep', '--name-only', '--extended-regexp', 'pnpm@[0-9]+\\.'], {
      cwd: ROOT,
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
      .filter((path) => !/(?:^pnpm-lock\.yaml|CHANGELOG\.md)$/.test(path));
    expect(naming.length).toBeGreaterThan(6);
    expect(naming.filter((path) => !patterns.some((pattern) => pattern.test(path)))).toEqual([]);
    const named = [...naming, 'package.json'].flatMap((path) =>
      matchStrings.flatMap((match) =>
        [...read(path).matchAll(new RegExp(match, 'g'))].map(({ groups }) => groups?.['currentValue']),
      ),
    );
    expect([...new Set(named)]).toEqual([manifest.devDependencies.pnpm]);
  });
});

describe('Dockerfile', () => {
  it('has no fault that a linter finds', () => {
    expect(validate(read('Dockerfile'))).toEqual([]);
  });

  it('uses the Node of this repository', () => {
    const [major] = manifest.devDependencies.node.split('.');
    const bases = [...stages.values()].flatMap(({ from }) => /^node:.*/.exec(from) ?? []);
    expect(bases).toHaveLength(2);
    for (const base of bases) expect(base).toMatch(new RegExp(`^node:${major}-bookworm-slim${DIGEST}$`));
    expect(read('.nvmrc')).toBe(`${major}\n`);
  });

  it('copies the manifest of every workspace package before it installs', () => {
    const folders = ['packages', 'apps']
      .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
      .concat('prisma', 'bench', 'examples', 'tools/node')
      .filter((folder) => existsSync(join(ROOT, folder, 'package.json')));
    const copied = stages
      .get('build')
      ?.lines.flatMap((line) => /^COPY (\S+)\/package\.json /.exec(line)?.[1] ?? []);
    expect(copied?.sort()).toEqual(folders.sort());
  });

  it.each(['api', 'worker', 'cli', 'svc'])(
    '%s runs as an ordinary user, and hears signals itself',
    (name) => {
      const stage = stages.get(name);
      expect(stage?.from).toBe('base');
      expect(stages.get('base')?.lines.filter((line) => line.startsWith('USER '))).toEqual(['USER node']);
      expect(stage?.lines.some((line) => line.startsWith('USER '))).toBe(false);
      const program = stage?.lines.find((line) => /^(?:ENTRYPOINT|CMD) \["node"/.test(line));
      expect(program).toBeDefined();
      expect(stage?.lines.some((line) => /^(?:ENTRYPOINT|CMD) [^[]/.test(line))).toBe(false);
      if (name !== 'cli') expect(stage?.lines.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true);
    },
  );

  it('runs nothing on any platform but that of the builder', () => {
    const running = [...stages].filter(([, { lines }]) => lines.some((line) => line.startsWith('RUN ')));
    expect(running.map(([name, { platform }]) => [name, platform])).toEqual([
      ['build', '$BUILDPLATFORM'],
      ['build-svc', '$BUILDPLATFORM'],
    ]);
  });

  it('leaves out what was built or installed elsewhere, and every secret', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toEqual(
      expect.arrayContaining(['**/node_modules', '**/dist', '**/generated', '.git', '**/.env', 'data']),
    );
  });
});

/** What make-env.sh writes. */
function madeEnvironment(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-env-'));
  try {
    execFileSync('sh', ['deploy/make-env.sh', join(folder, '.env')], { cwd: ROOT });
    return readFileSync(join(folder, '.env'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it.skipIf(process.platform === 'win32')(
  'make-env.sh writes keys for their owner alone, and over none',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-env-'));
    try {
      const make = (): unknown =>
        execFileSync('sh', ['-c', 'umask 022; exec sh deploy/make-env.sh "$0"', join(folder, '.env')], {
          cwd: ROOT,
          stdio: 'pipe',
        });
      make();
      expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
      expect(make).toThrow();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

interface Service {
  readonly image: string;
  readonly build?: { readonly target: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period?: string;
  readonly command?: string | readonly string[];
  readonly profiles?: readonly string[];
  readonly logging?: { readonly options: object };
  readonly env_file?: ReadonlyArray<{ readonly path: string }>;
}

describe('compose.yaml', () => {
  const text = read('compose.yaml');
  const compose: { services: Record<string, Service>; volumes: object; secrets: object } = parse(text, {
    merge: true,
  });
  const services = Object.entries(compose.services);
  const environment = Object.fromEntries(
    madeEnvironment()
      .split('\n')
      .flatMap((line) => {
        const [, name, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, value]];
      }),
  );

  /** Puts in what make-env.sh says, as compose does. */
  const filled = (value: string): string =>
    value.replaceAll(/\$\{(\w+)(?::[?-][^}]*)?\}/g, (_, name: string) => environment[name] ?? '');

  it('wants nothing that make-env.sh does not make', () => {
    const wanted = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
    expect([...wanted].filter((name) => !environment[name ?? ''])).toEqual([]);
    const known = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    expect(
      Object.keys(environment).filter((name) => !known.has(name) && !text.includes(`: ${name}`)),
    ).toEqual([]);
  });

  it.each(['api', 'worker'])('gives the %s a configuration that it takes', (name) => {
    const given = compose.services[name]?.environment ?? {};
    const image =
      stages.get(name)?.lines.flatMap((line) => /^ENV (.*)$/.exec(line)?.[1]?.split(' ') ?? []) ?? [];
    const env = Object.fromEntries([
      ...image.map((pair) => pair.split('=')),
      ...Object.entries(given).map(([variable, value]) => [variable, filled(value)]),
    ]);
    const config = loadConfig(env);
    expect(config.databaseUrl?.reveal()).toBe(
      `postgresql://svc:${environment['POSTGRES_PASSWORD']}@postgres:5432/svc`,
    );
    expect(config.metricsKey?.reveal()).toBe(environment['SVC_METRICS_KEY']);
    expect(config.jobKey?.reveal()).toBe(environment['SVC_JOB_KEY']);
    expect(config.apiKeys.map(({ role }) => role)).toEqual(
      name === 'api' ? ['admin', 'editor', 'viewer'] : [],
    );
  });

  it.each(['api', 'worker', 'migrate'])(
    '%s may write nowhere, has no privilege, and has time to drain',
    (name) => {
      const service = compose.services[name];
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        build: { target: expect.any(String) },
      });
      expect(stages.has(service?.build?.target ?? '')).toBe(true);
      expect(Number.parseInt(service?.stop_grace_period ?? '', 10) * 1000).toBeGreaterThan(
        loadConfig({}).drainTimeoutMs,
      );
    },
  );

  it('starts monitoring on request only, keeps logs within bounds, and takes any other variable', () => {
    const monitoring = services.filter(([, { profiles }]) => profiles?.includes('monitoring'));
    expect(monitoring.map(([name]) => name)).toEqual(['prometheus', 'grafana']);
    for (const [name, { logging }] of services) expect(logging?.options, name).toHaveProperty('max-size');
    for (const name of ['api', 'worker'])
      expect(compose.services[name]?.env_file?.map(({ path }) => path)).toContain('deploy/settings.env');
    for (const file of ['settings.env', 'providers.env'].map((name) => `deploy/${name}`))
      for (const list of ['.gitignore', '.dockerignore']) expect(read(list)).toContain(file);
  });

  it('names services, files and volumes that are there', () => {
    for (const [, { depends_on = {}, volumes = [] }] of services) {
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const other of needed) expect(Object.keys(compose.services)).toContain(other);
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('./')) expect(existsSync(join(ROOT, source)), source).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
    for (const [, { image }] of services)
      expect(image).toMatch(
        new RegExp(
          `^(?:[\\w./-]+:v?[\\d.]+${DIGEST}|\\$\\{SVC_IMAGE:-svc\\}-\\w+:\\$\\{SVC_VERSION:-dev\\})$`,
        ),
      );
  });

  it('lets Prometheus find the processes, with their key', () => {
    const prometheus = parse(read('deploy/prometheus/prometheus.yml'));
    for (const { authorization, dns_sd_configs } of prometheus.scrape_configs) {
      expect(authorization.credentials_file).toBe('metrics-key');
      const [{ names, port }] = dns_sd_configs;
      const exposed = stages.get(names[0])?.lines.find((line) => line.startsWith('EXPOSE '));
      expect(exposed).toBe(`EXPOSE ${port}`);
    }
  });
});

describe('deploy/systemd', () => {
  const units = readdirSync(join(ROOT, 'deploy/systemd'));

  it.for(units)('%s is accepted by systemd', (unit, { skip }) => {
    const path = join(ROOT, 'deploy/systemd', unit);
    const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    if (error !== undefined) skip('systemd-analyze is not installed');
    expect(status, stderr).toBe(0);
  });

  it('are what docs/deployment.md shows of them', () => {
    const shown = /```ini\n# (\S+), in short\n([\s\S]*?)```/.exec(read('docs/deployment.md'));
    const unit = read(`deploy/systemd/${shown?.[1]}`).split('\n');
    const lines = (shown?.[2] ?? '').split('\n').filter((line) => line !== '');
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => !unit.includes(line))).toEqual([]);
  });

  it.each(units.filter((unit) => unit !== 'svc-migrate.service'))(
    '%s gives time to drain, and no more',
    (unit) => {
      const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(read(`deploy/systemd/${unit}`))?.[1]);
      expect(seconds * 1000).toBeGreaterThan(loadConfig({}).drainTimeoutMs);
      expect(read(`deploy/systemd/${unit}`)).toContain('RestartPreventExitStatus=78');
    },
  );
});

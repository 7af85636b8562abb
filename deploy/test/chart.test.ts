import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../packages/service/src/index.ts';
import { type Manifest, renderChart } from './render-chart.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHART = join(ROOT, 'deploy/helm/svc');
const read = (path: string): string => readFileSync(join(CHART, path), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: values of every kind
type Values = Record<string, any>;

const chart: Values = parse(read('Chart.yaml'));
const defaults: Values = parse(read('values.yaml'));
const templates = new Map(
  readdirSync(join(CHART, 'templates')).map((name) => [name, read(`templates/${name}`)]),
);
const isValid = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(read('values.schema.json')));

/** Puts values over others as Helm does: members of objects one by one. */
function over(values: Values, given: Values): Values {
  const isObject = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged = Object.entries(given).map(([name, value]) => [
    name,
    isObject(value) && isObject(values[name]) ? over(values[name], value) : value,
  ]);
  return { ...values, ...Object.fromEntries(merged) };
}

function rendered(given: Values): readonly Manifest[] {
  const values = over(defaults, given);
  isValid(values);
  expect(isValid.errors).toBeNull();
  const { name, version, appVersion } = chart;
  return renderChart(templates, {
    Values: values,
    Release: { Name: 'eval', Service: 'Helm' },
    Chart: { Name: name, Version: version, AppVersion: appVersion },
  });
}

const secret = { secret: 'svc-secrets' };
const WAYS = {
  'values.yaml': { values: secret, kinds: ['Service', 'Service', 'Job', 'Deployment', 'Deployment'] },
  'values-single.yaml': {
    values: over(parse(read('values-single.yaml')), secret),
    kinds: ['Service', 'StatefulSet'],
  },
  'values-production.yaml': {
    values: over(parse(read('values-production.yaml')), secret),
    kinds: [
      ...['Service', 'Ingress', 'Service', 'ServiceMonitor', 'Job'],
      ...['Deployment', 'PodDisruptionBudget', 'Deployment', 'PodDisruptionBudget'],
    ],
  },
};

describe('the chart', () => {
  it.each(Object.entries(WAYS))('%s makes what its comment says', (_, { values, kinds }) => {
    const manifests = rendered(values);
    expect(manifests.map(({ kind }) => kind)).toEqual(kinds);
    for (const { apiVersion, metadata } of manifests) {
      expect(apiVersion).toMatch(/^(?:v1|[a-z0-9.]+\/v1)$/);
      expect(metadata.name).toMatch(/^eval(?:-api|-worker|-migrate)?$/);
    }
    for (const { spec, pod, container } of podsOf(manifests)) {
      if (spec.selector !== undefined) {
        expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
      }
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      expect(container.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.envFrom).toEqual([{ secretRef: { name: 'svc-secrets' } }]);
      const isServing = container.name !== 'migrate';
      expect(container.readinessProbe?.httpGet).toEqual(
        isServing ? { path: '/readyz', port: 'http' } : undefined,
      );
      expect(container.livenessProbe?.httpGet).toEqual(
        isServing ? { path: '/healthz', port: 'http' } : undefined,
      );
      const mounted = (container.volumeMounts ?? []).map(({ name }: Manifest) => name).sort();
      const volumes = [
        ...(pod.volumes ?? []),
        ...(spec.volumeClaimTemplates ?? []).map(({ metadata }: Manifest) => metadata),
      ];
      expect(volumes.map(({ name }) => name).sort()).toEqual(mounted);
    }
  });

  it('gives each process time to drain, variables that it knows, and the image of its stage', () => {
    const stages = [...readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^FROM .* AS (\S+)$/gm)].map(
      ([, stage]) => (['api', 'worker', 'cli'].includes(stage as string) ? `svc-${stage}` : stage),
    );
    for (const { values } of Object.values(WAYS)) {
      for (const { pod, container } of podsOf(rendered(values))) {
        const variables: Manifest[] = container.env;
        const set = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
        expect(() => loadConfig({ ...set, DATABASE_URL: 'postgresql://db/svc' })).not.toThrow();
        const drainMs = Number(set['SVC_DRAIN_DELAY_MS']) + Number(set['SVC_DRAIN_TIMEOUT_MS']);
        expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(drainMs);
        const [, stage, tag] = /^ghcr\.io\/svc-data\/(\S+):(\S+)$/.exec(container.image) ?? [];
        expect(stages).toContain(stage);
        expect(tag).toBe(chart['appVersion']);
      }
    }
  });

  it('sends requests to pods that exist, and metrics with their key', () => {
    for (const { values } of Object.values(WAYS)) {
      const manifests = rendered(values);
      const labels = podsOf(manifests).map(({ spec }) => spec.template.metadata.labels);
      for (const { kind, spec } of manifests) {
        if (kind === 'Service') expect(labels).toContainEqual(expect.objectContaining(spec.selector));
        if (kind === 'ServiceMonitor') {
          expect(spec.endpoints[0].authorization.credentials).toEqual({
            name: 'svc-secrets',
            key: 'SVC_METRICS_KEY',
          });
          const services = manifests.filter((other) => other['kind'] === 'Service');
          for (const { metadata } of services)
            expect(metadata.labels).toMatchObject(spec.selector.matchLabels);
        }
      }
    }
  });

  it.each([
    ['an unknown member', { replicas: 2 }],
    ['an unknown member of a member', { api: { replica: 2 } }],
    ['a wrong kind', { drainDelayMs: '5s' }],
    ['a variable that is none', { config: { 'svc-port': '1' } }],
  ])('refuses %s', (_, given) => {
    expect(isValid(over(defaults, given))).toBe(false);
  });

  it('has the version of the service', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'apps/api/package.json'), 'utf8'));
    expect([chart['version'], chart['appVersion']]).toEqual([version, version]);
  });

  it('asks for the secret', () => {
    expect(() => rendered({})).toThrow('secret must name a secret');
  });
});

function podsOf(
  manifests: readonly Manifest[],
): readonly { spec: Manifest; pod: Manifest; container: Manifest }[] {
  return manifests
    .filter(({ spec }) => spec?.template?.spec !== undefined)
    .map(({ spec }) => ({ spec, pod: spec.template.spec, container: spec.template.spec.containers[0] }));
}

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../packages/service/src/telemetry/create-metrics.ts';
import { anchorsOf } from './check-links.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
interface RuleTest {
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly unknown[];
  }[];
}

const rules: Rule[] = parse(read('deploy/prometheus/alerts.yml')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const dashboard = JSON.parse(read('deploy/grafana/dashboard.json')) as {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
};
const expressions: [where: string, expr: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [`alert ${alert}`, expr]),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [`panel ${title}`, expr]),
  ),
];

interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** The metrics that a PromQL expression reads. A name before a bracket is a function, one in `by (...)` a label. */
function selectorsOf(expr: string): Selector[] {
  const selectors: Selector[] = [];
  const texts: string[] = [];
  const bare = expr
    .replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => `"${texts.push(text) - 1}"`)
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  for (const [, metric = '', braces] of bare.matchAll(
    /\b([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\}|(?![\w(:]|\s*\())/g,
  )) {
    if (braces === undefined && /^(?:and|or|unless|offset|bool|\d+[smhd])$/.test(metric)) continue;
    const matchers = [...(braces ?? '').matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"(\d+)"/g)];
    selectors.push({
      metric,
      matchers: matchers.map(([, label = '', operator = '', text]) => ({
        label,
        operator,
        value: texts[Number(text)] ?? '',
      })),
    });
  }
  return selectors;
}

/** Series name → label → values, as a new process renders them after two requests. */
const series = new Map<string, Map<string, Set<string>>>();
beforeAll(async () => {
  const metrics = createMetrics({ version: '0' });
  metrics.startRequest({ method: 'GET', route: '/readyz' }).finish({ statusCode: 503, durationMs: 1 });
  metrics.startRequest({ method: 'GET', route: '/healthz' });
  metrics.setDiskFree({ data: 1, hub_cache: 1 });
  for (const name of ['nodejs_gc_duration_seconds_sum']) series.set(name, new Map()); // after the first collection
  for (const line of (await metrics.render()).split('\n')) {
    const [, name, labels] = /^([a-z_A-Z]\w*)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const known = series.get(name) ?? new Map<string, Set<string>>();
    series.set(name, known);
    for (const [, label = '', value = ''] of (labels ?? '').matchAll(/(\w+)="([^"]*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value));
    }
  }
  series.set('up', new Map()); // Prometheus makes it
});

/** Labels that Prometheus adds to every series, and labels whose values depend on requests. */
const TARGET_LABELS = new Set(['job', 'instance']);
const OPEN_LABELS = new Set(['path', 'route', 'method', 'status_code', 'version']);

describe('selectorsOf', () => {
  it.each([
    ['sum by (job) (rate(a_total{path!~"/x|{y}", code="5"}[5m])) / b > 0.5', ['a_total', 'b']],
    ['max(a{s="b(c"} offset 15m) or absent(up{job="x"} == 1)', ['a', 'up']],
    ['histogram_quantile(0.9, sum by (le) (rate(c_bucket[1m])))', ['c_bucket']],
    ['time() - d unless e offset 15m', ['d', 'e']],
  ])('%s', (expr, metrics) => {
    expect(selectorsOf(expr).map(({ metric }) => metric)).toEqual(metrics);
  });
});

describe('alerts and dashboard', () => {
  it.each(expressions)('%s reads metrics, labels and values that exist', (_where, expr) => {
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, matchers } of selectors) {
      const labels = series.get(metric);
      expect(labels, `there is no metric ${metric}`).toBeDefined();
      for (const { label, operator, value } of matchers) {
        if (TARGET_LABELS.has(label)) continue;
        expect([...(labels?.keys() ?? [])], `a label of ${metric}`).toContain(label);
        if (OPEN_LABELS.has(label)) continue;
        for (const one of operator.endsWith('~') ? value.split('|') : [value]) {
          expect([...(labels?.get(label) ?? [])], `a value of ${label} of ${metric}`).toContain(one);
        }
      }
    }
  });

  it('have every metric of the product somewhere', async () => {
    const text = await createMetrics({ version: '0', collectProcessMetrics: false }).render();
    const own = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    const read = expressions.flatMap(([, expr]) => selectorsOf(expr).map(({ metric }) => metric));
    expect(own.filter((name) => !read.some((one) => one.replace(/_bucket$/, '') === name))).toEqual([]);
  });
});

describe('deploy/prometheus/alerts.yml', () => {
  const anchors = anchorsOf(read('docs/operations.md'));

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s says what, how bad and what to do',
    (alert, rule) => {
      expect(rule.labels['severity']).toMatch(/^(critical|warning)$/);
      expect(rule.annotations['summary']).toBeTruthy();
      expect(rule.annotations['description']).toBeTruthy();
      const [page, anchor] = (rule.annotations['runbook_url'] ?? '').split('#');
      expect(page).toBe('https://github.com/svc-data/svc/blob/main/docs/operations.md');
      expect(anchor).toBe(alert.toLowerCase());
      expect(anchors).toContain(anchor);
    },
  );

  it('has a test for every alert that it fires, and one that it does not', () => {
    const tests: RuleTest[] = parse(read('deploy/prometheus/alerts.test.yml')).tests;
    const cases = tests.flatMap((test) => test.alert_rule_test);
    const names = (fires: boolean): string[] =>
      [
        ...new Set(
          cases.filter((one) => one.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname),
        ),
      ].sort();
    const alerts = rules.map(({ alert }) => alert).sort();
    expect(names(true)).toEqual(alerts);
    expect(names(false)).toEqual(alerts);
  });
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describe('deploy/prometheus under promtool', () => {
  it.for([
    // Without the key file, which is only on the machine that scrapes.
    ['check', 'config', '--syntax-only', 'deploy/prometheus/prometheus.yml'],
    ['check', 'rules', 'deploy/prometheus/alerts.yml'],
    ['test', 'rules', 'deploy/prometheus/alerts.test.yml'],
  ])('promtool %s %s %s', (args, { skip }) => {
    if (!hasPromtool) skip('promtool (part of Prometheus) is not installed');
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: root, encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});

describe('deploy/grafana', () => {
  it('has valid PromQL', ({ skip }) => {
    if (!hasPromtool) skip('promtool (part of Prometheus) is not installed');
    const interval = (expr: string): string => expr.replaceAll(/\[\$__(?:rate_interval|range)\]/g, '[5m]');
    const recorded = dashboard.panels
      .flatMap(({ targets = [] }) => targets)
      .map(({ expr }, index) => ({ record: `panel:${index}`, expr: interval(expr) }));
    const folder = mkdtempSync(join(tmpdir(), 'svc-panels-'));
    try {
      const file = join(folder, 'panels.yml');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] }));
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], {
        encoding: 'utf8',
      });
      expect(status, `${stdout}${stderr}`).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('has panels that do not overlap', () => {
    const overlaps = dashboard.panels.flatMap((a, index) =>
      dashboard.panels
        .slice(index + 1)
        .filter(
          ({ gridPos: b }) =>
            a.gridPos.x < b.x + b.w &&
            b.x < a.gridPos.x + a.gridPos.w &&
            a.gridPos.y < b.y + b.h &&
            b.y < a.gridPos.y + a.gridPos.h,
        )
        .map((b) => `${a.title} and ${b.title}`),
    );
    expect(overlaps).toEqual([]);
  });

  it('chooses job and instance from a metric that exists', () => {
    const asked = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    expect(asked).toEqual([
      'label_values(svc_build_info, job)',
      'label_values(svc_build_info{job=~"$job"}, instance)',
    ]);
    expect(series.has('svc_build_info')).toBe(true);
  });

  it('provides the data source under the name that the dashboard chooses by default', () => {
    const { datasources } = parse(read('deploy/grafana/provisioning/datasources/prometheus.yml'));
    expect(datasources).toMatchObject([{ uid: 'prometheus', type: 'prometheus', isDefault: true }]);
    expect(dashboard.templating.list[0]).toMatchObject({ type: 'datasource', query: 'prometheus' });
  });
});

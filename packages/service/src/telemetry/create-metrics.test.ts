import { spawnSync } from 'node:child_process';
import { reset_metrics_for_testing } from '@svc/observability';
import { describe, expect, it } from 'vitest';
import { createMetrics } from './create-metrics.ts';

const quiet = { version: '1.2.3', collectProcessMetrics: false };

async function series(metrics: { render(): Promise<string> }): Promise<Record<string, number>> {
  const lines = (await metrics.render()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

describe('createMetrics', () => {
  it('has every metric with its type and labels, before the first event', async () => {
    const metrics = createMetrics(quiet);
    const text = await metrics.render();
    const types = Object.fromEntries(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((match) => [match[1], match[2]]),
    );
    expect(types).toEqual({
      svc_http_requests_total: 'counter',
      svc_http_request_duration_seconds: 'histogram',
      svc_http_route_duration_seconds: 'histogram',
      svc_http_requests_in_progress: 'gauge',
      svc_build_info: 'gauge',
      runs_cancel_poll_count: 'counter',
      runs_cancel_poll_db_queries_total: 'counter',
      runs_cancel_poll_latency_seconds: 'histogram',
      svc_dataset_changes_total: 'counter',
      svc_dataset_imports_total: 'counter',
      svc_dataset_import_items_total: 'counter',
      svc_dataset_import_bytes_total: 'counter',
      svc_dataset_import_duration_seconds: 'histogram',
      svc_hub_requests_total: 'counter',
      svc_hub_request_duration_seconds: 'histogram',
      svc_queue_jobs: 'gauge',
      svc_ready: 'gauge',
      svc_runs_total: 'counter',
      svc_run_items_total: 'counter',
      svc_reused_outputs_total: 'counter',
      svc_provider_requests_total: 'counter',
      svc_provider_request_duration_seconds: 'histogram',
      svc_provider_tokens_total: 'counter',
      svc_database_pool_connections: 'gauge',
      svc_database_pool_waiting: 'gauge',
      svc_database_size_bytes: 'gauge',
      svc_disk_free_bytes: 'gauge',
    });
    expect(await series(metrics)).toMatchObject({
      'svc_build_info{version="1.2.3"}': 1,
      runs_cancel_poll_count: 0,
      svc_http_request_duration_seconds_count: 0,
      'svc_dataset_imports_total{source="hub",outcome="failed"}': 0,
      'svc_runs_total{status="cancelled"}': 0,
      'svc_queue_jobs{state="queued"}': 0,
    });
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('records everything else', async () => {
    const metrics = createMetrics(quiet);
    metrics.recordCancelPoll({ queries: 1, durationMs: 3 });
    metrics.recordCancelPoll({ queries: 2, durationMs: 3 });
    metrics.recordImport({ source: 'hub', outcome: 'succeeded', items: 5, bytes: 70, durationMs: 1500 });
    metrics.recordHubRequest({ outcome: 'ok', durationMs: 100 });
    metrics.setQueueJobs({ queued: 3, running: 1 });
    metrics.setQueueJobs({ queued: 2 });
    metrics.setReadiness({ database: { ok: true }, accepting: { ok: true } });
    metrics.setReadiness({ database: { ok: true }, queue: { ok: false } });
    metrics.setDatabase({ pool: { used: 3, idle: 2, waiting: 1 }, bytes: 77 });
    metrics.setDiskFree({ data: 99 });
    metrics.recordRun('completed');
    metrics.recordRunItem('unscored');
    metrics.recordProviderRequest({ outcome: 'rate_limited', durationMs: 250 });
    metrics.recordProviderTokens({ input: 7, output: null });
    expect(await series(metrics)).toMatchObject({
      runs_cancel_poll_count: 2,
      runs_cancel_poll_db_queries_total: 3,
      runs_cancel_poll_latency_seconds_count: 2,
      'svc_dataset_imports_total{source="hub",outcome="succeeded"}': 1,
      'svc_dataset_import_items_total{source="hub",outcome="succeeded"}': 5,
      'svc_dataset_import_bytes_total{source="hub",outcome="succeeded"}': 70,
      'svc_dataset_import_duration_seconds_sum{source="hub",outcome="succeeded"}': 1.5,
      'svc_hub_requests_total{outcome="ok"}': 1,
      'svc_hub_request_duration_seconds_count{outcome="ok"}': 1,
      'svc_queue_jobs{state="queued"}': 2,
      'svc_queue_jobs{state="running"}': 0,
      'svc_ready{check="database"}': 1,
      'svc_ready{check="queue"}': 0,
      'svc_ready{check="accepting"}': 0,
      'svc_runs_total{status="completed"}': 1,
      'svc_run_items_total{status="unscored"}': 1,
      'svc_provider_requests_total{outcome="rate_limited"}': 1,
      svc_provider_request_duration_seconds_sum: 0.25,
      'svc_provider_tokens_total{direction="input"}': 7,
      'svc_provider_tokens_total{direction="output"}': 0,
    });
  });

  it('resets everything, also during a request', async () => {
    const metrics = createMetrics(quiet);
    const fresh = await metrics.render();
    const request = metrics.startRequest({ method: 'GET', route: '/x' });
    metrics.recordRun('failed');
    metrics.recordCancelPoll({ queries: 1, durationMs: 1 });
    reset_metrics_for_testing();
    request.setRoute('/y');
    request.finish({ statusCode: 200, durationMs: 1 });
    expect(await metrics.render()).toBe(fresh);
  });

  it('shares nothing between two instances', async () => {
    const one = createMetrics(quiet);
    const two = createMetrics(quiet);
    one.recordRun('failed');
    expect(await series(two)).toMatchObject({ 'svc_runs_total{status="failed"}': 0 });
  });

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
  it.skipIf(!hasPromtool)('is valid for promtool, except for one fixed name', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    metrics.startRequest({ method: 'GET', route: '/x' }).finish({ statusCode: 200, durationMs: 1 });
    await metrics.render(); // the lag of the event loop is measured between two scrapes
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await metrics.render(),
      encoding: 'utf8',
    });
    const findings = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
    expect(findings.filter((line) => !line.startsWith('runs_cancel_poll_count '))).toEqual([]);
    expect(findings).not.toEqual([]); // otherwise promtool did not run
  });

  it('has the process metrics, also after a reset', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    metrics.resetForTesting();
    const names = Object.keys(await series(metrics));
    expect(names).toContain('process_start_time_seconds');
    expect(names.some((name) => name.startsWith('nodejs_version_info'))).toBe(true);
    expect(names.filter((name) => /^nodejs_active_\w+_total/.test(name))).toEqual([]);
  });
});

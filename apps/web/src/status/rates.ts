/** An hour of looks every five seconds. */
const MAX_LOOKS = 720;

export type Totals = ReturnType<typeof totalsOf>;

export function totalsOf(samples: readonly Sample[], atMs: number) {
  return {
    atMs,
    requests: sumOf(samples, 'svc_http_requests_total'),
    errors: sumOf(samples, 'svc_http_requests_total', ({ status_code }) => /^5/.test(status_code ?? '')),
    /** Of all responses. */
    seconds: sumOf(samples, 'svc_http_request_duration_seconds_sum'),
    items: sumOf(samples, 'svc_dataset_import_items_total'),
    providerCalls: sumOf(samples, 'svc_provider_requests_total'),
    results: sumOf(samples, 'svc_run_items_total'),
  };
}

/** The looks with one more; the oldest go. */
export const withLook = (looks: readonly Totals[], next: Totals): readonly Totals[] =>
  [...looks, next].slice(-MAX_LOOKS);

/** How much a total grew each second between looks. A total that fell began again with the process. */
export function ratesOf(looks: readonly Totals[], name: Exclude<keyof Totals, 'atMs'>): readonly number[] {
  return looks.slice(1).map((look, at) => {
    const before = looks[at] ?? look;
    const elapsedS = (look.atMs - before.atMs) / 1000;
    return elapsedS <= 0 ? 0 : Math.max(0, look[name] - before[name]) / elapsedS;
  });
}

/** One sample of the Prometheus text format. */
export type Sample = ReturnType<typeof parseMetrics>[number];

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})? (\S+)/;
const LABEL = /(?<!\w)(\w{1,100})="((?:[^"\\]|\\.)*)"/g;

/** Reads the samples of a page of metrics; comments and lines of another form are skipped. */
export function parseMetrics(text: string) {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || line.startsWith('#')) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** The sum of the samples of a metric whose labels pass. */
export function sumOf(
  samples: readonly Sample[],
  name: string,
  matches: (labels: Sample['labels']) => boolean = () => true,
): number {
  return samples.reduce((sum, one) => (one.name === name && matches(one.labels) ? sum + one.value : sum), 0);
}

/** One sample of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})? (\S+)/;
const LABEL = /(?<!\w)(\w{1,100})="((?:[^"\\]|\\.)*)"/g;

/** Reads the samples of a page of metrics; comments and lines of another form are skipped. */
export function parseMetrics(text: string): readonly Sample[] {
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

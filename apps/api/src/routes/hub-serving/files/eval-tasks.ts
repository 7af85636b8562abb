import type { SectionRange, Store, StoredSection } from '@svc/store';
import { scanItems, TASK_KINDS } from '@svc/store/rows';
import { toYaml, type YamlValue } from './card.ts';
import { groupItems } from './plan-files.ts';

/** Items that one task of Inspect has: a split, or parts of it, with items of one kind. */
export interface EvalTask {
  readonly kind: keyof typeof TASKS;
  readonly split: string;
  /** What `load_dataset` takes for it. */
  readonly items: string;
}

/** How Inspect solves and scores items of a kind. */
const TASKS = {
  choices: { id: 'multiple_choice', solver: 'multiple_choice', scorer: 'choice' },
  criteria: { id: 'model_graded_qa', solver: 'generate', scorer: 'model_graded_qa' },
  text: { id: 'match', solver: 'generate', scorer: 'match' },
} as const;
const KINDS = ['choices', 'criteria', 'text'] as const;

/** Items of mixed sections that are looked at, and parts of a split that a task may have. */
const MAX_MIXED_ITEMS = 10_000;
const MAX_SLICES = 1_000;

/**
 * The tasks of sections. Items of a mixed section are looked at one by one; one that is larger than others, or has too many
 * changes of kind, has no tasks.
 */
export async function planTasks(
  hubFiles: Pick<Store['hubFiles'], 'lineSizes' | 'ranges' | 'readItems'>,
  sections: readonly (StoredSection & { readonly split: string; readonly kinds: number })[],
  signal: AbortSignal,
): Promise<readonly EvalTask[]> {
  const tasks: EvalTask[] = [];
  let left = MAX_MIXED_ITEMS;
  for (const { id, split, itemCount, kinds } of sections) {
    const only = KINDS.find((kind) => kinds === TASK_KINDS[kind]);
    if (only !== undefined) tasks.push({ kind: only, split, items: split });
    if (only !== undefined || kinds === TASK_KINDS.none || itemCount > left) continue;
    left -= itemCount;
    const slices = await slicesOf(hubFiles, await hubFiles.ranges([id], signal), signal);
    for (const kind of KINDS) {
      const some = slices.get(TASK_KINDS[kind]) ?? [];
      if (some.length === 0 || some.length > MAX_SLICES) continue;
      const items = some.map(([from, to]) => `${split}[${from}:${to}]`).join('+');
      tasks.push({ kind, split, items });
    }
  }
  return tasks;
}

async function slicesOf(
  hubFiles: Pick<Store['hubFiles'], 'lineSizes' | 'readItems'>,
  ranges: readonly SectionRange[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly (readonly [from: number, to: number])[]>> {
  const slices = new Map<number, [number, number][]>();
  let at = 0;
  for await (const group of groupItems(hubFiles, ranges, signal)) {
    for (const { kind } of scanItems(await hubFiles.readItems(group.ranges, signal))) {
      const ofKind = slices.get(kind) ?? [];
      slices.set(kind, ofKind);
      const last = ofKind.at(-1);
      if (last?.[1] === at) last[1] = at + 1;
      else ofKind.push([at, at + 1]);
      at += 1;
    }
  }
  return slices;
}

/** `eval.yaml`, from which Inspect makes tasks of a dataset. */
export function evalYaml(name: string, tasks: readonly EvalTask[]): string {
  const isSplit = new Set(tasks.map(({ split }) => split)).size > 1;
  const listed = tasks.map(({ kind, split, items }): YamlValue => {
    const { id, solver, scorer } = TASKS[kind];
    return {
      id: isSplit ? `${split}-${id}` : id,
      ...{ config: 'default', split: items },
      field_spec: {
        ...{ input: 'prompt', target: 'target' },
        ...(kind === 'choices' ? { choices: 'choice_texts' } : {}),
      },
      solvers: [{ name: solver }],
      scorers: [{ name: scorer }],
    };
  });
  return `${toYaml({ name, evaluation_framework: 'inspect-ai', tasks: listed })}\n`;
}

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that start services, browsers or npm, or wait for time-outs: each takes longer than most others together. */
const SLOW =
  /\/(?:apps\/(?:standalone|web|worker|cli)\/test|deploy|prisma\/test\/driver|tools\/(?:packages|patterns)|apps\/standalone\/src\/embedded-postgres|packages\/svc-pkg\/test\/processes)/;

/**
 * Starts slow files first, so that no worker waits for one of them at the end, and the others project by project, because
 * only files of one project share a process; else as Vitest does.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const { slow = [], others = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      SLOW.test(moduleId) ? 'slow' : 'others',
    );
    const byProject = others.toSorted((a, b) =>
      a.project.name < b.project.name ? -1 : Number(a.project.name > b.project.name),
    );
    return [...slow, ...byProject];
  }
}

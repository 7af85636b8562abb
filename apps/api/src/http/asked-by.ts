import { currentContext } from '@svc/observability';

/** What asked for a run or a job: the running request, and its caller. Stored with it, so that workers log both. */
export function askedBy(): { readonly requestId: string | null; readonly createdBy: string | null } {
  const { request_id, actor } = currentContext();
  return { requestId: request_id ?? null, createdBy: actor ?? null };
}

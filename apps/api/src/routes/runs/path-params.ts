import type { RouteRequest } from '@svc/service';
import type { ResultName } from '@svc/store';

/** What the routes share that read runs. */
export const RUN_READ = {
  method: 'get',
  tag: 'runs',
  access: 'viewer',
  produces: 'application/json',
} as const;

/** What the routes share that make or change runs. */
export const RUN_CHANGE = {
  method: 'post',
  tag: 'runs',
  access: 'editor',
  produces: 'application/json',
} as const;

/** The run that a path `/runs/{id}` names. */
export const idOf = (params: RouteRequest['params']): string => params['id'] ?? '';

/** The result that a path `/runs/{id}/results/{section}/{order_index}/{repetition}` names. */
export function resultNameOf(params: RouteRequest['params']): ResultName {
  return {
    section: params['section'] ?? '',
    orderIndex: indexOf(params['order_index']),
    repetition: indexOf(params['repetition']),
  };
}

/** An index in a path; one that no result has where it is not a number. */
function indexOf(text: string | undefined): number {
  return /^\d{1,9}$/.test(text ?? '') ? Number(text) : -1;
}

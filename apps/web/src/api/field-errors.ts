import { ApiProblem } from './api-problem.ts';

/** A field of a form, and where its value is in the request. */
interface PointedField {
  readonly name: string;
  readonly pointer?: string;
}

/** The errors of a response by the field that each is about; what is about no field is left out. */
export function fieldErrors(error: unknown, fields: readonly PointedField[]): Record<string, string> {
  const errors = error instanceof ApiProblem ? (error.problem.errors ?? []) : [];
  return Object.fromEntries(
    errors.flatMap(({ path, message }) => {
      const field = fields
        .filter(
          ({ pointer }) => pointer !== undefined && (path === pointer || path?.startsWith(`${pointer}/`)),
        )
        .sort((a, b) => (b.pointer?.length ?? 0) - (a.pointer?.length ?? 0))[0];
      return field === undefined ? [] : [[field.name, withoutPointer(message, path ?? '')]];
    }),
  );
}

/** A message of the service may begin with the pointer, or its end, which people do not know. */
function withoutPointer(message: string, path: string): string {
  const [start = ''] = message.split(' must ', 1);
  return start.startsWith('/') && path.endsWith(start) ? `This${message.slice(start.length)}` : message;
}

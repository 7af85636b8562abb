import type { paths as Paths } from './generated/openapi.ts';

/** The JSON body of a successful response: `ResponseOf<'/datasets', 'get'>`. */
export type ResponseOf<
  Path extends keyof Paths,
  Method extends keyof Paths[Path],
  Status extends number = 200,
> = Paths[Path][Method] extends { readonly responses: infer Responses }
  ? Status extends keyof Responses
    ? Responses[Status] extends { readonly content: { readonly 'application/json': infer Body } }
      ? Body
      : never
    : never
  : never;

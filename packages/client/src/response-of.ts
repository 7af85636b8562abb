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

/** The JSON body of a request: `BodyOf<'/runs'>`. */
export type BodyOf<Path extends keyof Paths> = Paths[Path] extends {
  readonly post: { readonly requestBody: { readonly content: { readonly 'application/json': infer Body } } };
}
  ? Body
  : never;

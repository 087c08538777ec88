// Types of oidc-provider, which has none: the part that the OAuth server and the tests use.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    /** Returns its id. */
    save(): Promise<string>;
  }
  export interface ProviderContext {
    path: string;
    status: number;
    type: string;
    body: unknown;
    set(name: string, value: string): void;
    req: IncomingMessage;
    res: ServerResponse;
    _matchedRouteName?: string;
    query: Record<string, string | string[] | undefined>;
    oidc: {
      client?: { clientId: string; clientName?: string; redirectUriAllowed(uri: string): boolean };
      route?: string;
      /** The client is unknown and not looked up again in this call. */
      noclient?: boolean;
      session?: { accountId: string };
      result?: { consent?: { grantId?: string } };
      params?: Record<string, unknown>;
      entities: { RefreshToken?: { rotations?: number; iat: number } };
      provider: Provider;
    };
  }
  export interface Interaction {
    uid: string;
    params: Record<string, string | undefined>;
    prompt: { name: string; details: Record<string, unknown> };
  }
  export class Provider {
    /** The context of the current call. */
    static readonly ctx: ProviderContext | undefined;
    constructor(issuer: string, configuration: Record<string, unknown>);
    proxy: boolean;
    Grant: (new (of: {
      clientId: string;
      accountId: string;
    }) => Grant) & { find(id: string): Promise<Grant | undefined> };
    RefreshToken: {
      prototype: { generateTokenId(this: { grantId: string; rotations: number }): string };
    };
    use(middleware: (ctx: ProviderContext, next: () => Promise<void>) => Promise<void>): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
    ): Promise<void>;
    /** Returns the URL at which the browser continues. */
    interactionResult(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<string>;
    on(event: string, listener: (...values: never[]) => void): void;
  }

  export class OIDCProviderError extends Error {
    error: string;
    error_description?: string;
  }
  export const errors: Record<
    'InvalidGrant' | 'InvalidTarget',
    new (
      description: string,
    ) => OIDCProviderError
  > & {
    CustomOIDCProviderError: new (
      error: string,
      description: string,
      options: { cause: unknown },
    ) => OIDCProviderError;
  };
  export const interactionPolicy: {
    Check: new (
      reason: string,
      description: string,
      error: string,
      check: (ctx: ProviderContext) => boolean,
    ) => object;
    Prompt: new (
      prompt: { name: string; requestable: boolean },
      details: (ctx: ProviderContext) => Record<string, unknown>,
      ...checks: object[]
    ) => object;
    base(): { clear(): void; add(prompt: object): void };
  };
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  const MemoryAdapter: new (model: string) => object;
  export default MemoryAdapter;
}

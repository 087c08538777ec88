// Wires the MCP endpoint: its metadata, the endpoint itself, and the download links of its results.
import type { Log } from '../../../common/log.ts';
import type { AccountRequests } from '../../accounts/account-requests.ts';
import { LINK_PATH } from '../../http/access-log.ts';
import { createAccountShares } from '../../http/account-shares.ts';
import { BODY_TIMES, jsonBody, RENDER_BODY_HINTS } from '../../http/body.ts';
import { accountHolder, type ByteBudget } from '../../http/byte-budget.ts';
import { boundRequests } from '../../http/caller.ts';
import type { Route } from '../../http/state.ts';
import { linkRoute } from '../downloads/link.ts';
import { PdfStore, type PdfStoreLimits } from '../downloads/pdf-store.ts';
import type { AccessTokens } from '../oauth/access.ts';
import type { PlaygroundDeps } from '../routes/playground.ts';
import { authenticate, postOnly } from './authenticate.ts';
import { endpoint } from './endpoint.ts';
import { MCP_PATH, protectedResource } from './protected-resource.ts';
import { HELD_PER_EMBEDDED_BYTE } from './render-pdf.ts';
import { RESOURCE_MAX_BYTES } from './server.ts';
import { toolDescription } from './tool.ts';

export interface McpDeps extends PlaygroundDeps {
  publicUrl: string;
  /** The audience that tokens must have: the endpoint's URL, as in the OAuth server's metadata. */
  resource: string;
  tokens: AccessTokens;
  links: PdfStoreLimits;
  budget: ByteBudget;
  requests: AccountRequests;
  /** The time limit of a render, for the description of the tool. */
  renderMs: number;
  outputMaxBytes: number;
  log: Log;
}

/**
 * The share of the byte budget for PDFs in results. No lease bounds how many of them a client reads
 * at once.
 */
export const RESULTS_SHARE = 1 / 4;

const BODY_HINTS = { ...RENDER_BODY_HINTS, missing: 'Send a JSON-RPC message.' };

export function mcpRoutes(deps: McpDeps): Route[] {
  const {
    publicUrl,
    resource,
    links,
    budget,
    requests,
    bodyMaxBytes,
    renderMs,
    outputMaxBytes,
    log,
  } = deps;
  const pdfs = new PdfStore(deps.store, links);
  const description = toolDescription({
    bodyMaxBytes,
    renderMs,
    outputMaxBytes,
    linkMs: links.ttlMs,
  });
  const linkOf = (token: string) => `${publicUrl}${LINK_PATH}/${token}`;
  const shares = createAccountShares(
    budget,
    RESULTS_SHARE,
    RESOURCE_MAX_BYTES * HELD_PER_EMBEDDED_BYTE,
  );
  const serve = endpoint({ ...deps, pdfs, description, linkOf, shares });
  const body = jsonBody(
    { maxBytes: bodyMaxBytes, ...BODY_TIMES, hints: BODY_HINTS },
    budget,
    ({ state }) => accountHolder(state.access!.account),
  );
  const authenticated = authenticate(deps);
  const bound = boundRequests(requests, ({ state }) => ({ accountId: state.access!.account }));
  return [
    ...protectedResource(publicUrl, resource),
    { method: 'post', path: MCP_PATH, handle: [...authenticated, bound, body, serve] },
    // Some clients send these first to learn from the 401 how to authenticate.
    { method: 'get', path: MCP_PATH, handle: [...authenticated, postOnly] },
    { method: 'delete', path: MCP_PATH, handle: [...authenticated, postOnly] },
    linkRoute({ pdfs, budget, log }),
  ];
}

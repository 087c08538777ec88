// Wires the MCP endpoint: its metadata, the endpoint itself, and the links that its answers carry. Returns what the application routes.
import type { Log } from '../../../common/log.ts';
import { BODY_TIMES, jsonBody } from '../../http/body.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import type { Middleware } from '../../http/state.ts';
import { createAccountShares } from '../documents/account-shares.ts';
import { createKeptPdfs, type KeptPdfLimits } from '../documents/kept-pdfs.ts';
import { LINK_PATH, linkRoute } from '../documents/link.ts';
import type { AccessTokens } from '../oauth/access.ts';
import type { PlaygroundDeps } from '../routes/playground.ts';
import { endpoint, MCP_PATH, mcpBearer, ownOrigin, postsAlone } from './endpoint.ts';
import { protectedResource } from './protected-resource.ts';
import { HELD_PER_EMBEDDED_BYTE } from './render-pdf.ts';
import { RESOURCE_MAX_BYTES } from './server.ts';
import { toolDescription } from './tool.ts';

export interface McpDeps extends PlaygroundDeps {
  publicUrl: string;
  /** What tokens must be for: the address of the endpoint, as the OAuth server writes it. */
  resource: string;
  tokens: AccessTokens;
  links: KeptPdfLimits;
  budget: ByteBudget;
  /** How much the budget is. */
  inFlightMaxBytes: number;
  /** Of one render, for the words of the tool. */
  renderMs: number;
  outputMaxBytes: number;
  log: Log;
}

/** What PDFs within answers may hold of the memory for renders. They are not counted, and no lease bounds how many a client reads at a time. */
const ANSWERS_SHARE = 1 / 4;

const WORDS = { missing: 'Send a JSON-RPC message.', tooLarge: 'Send less html, or let the page load its images from a URL.' };

export function mcpRoutes(deps: McpDeps): { method: 'get' | 'post' | 'delete'; path: string; handle: Middleware[] }[] {
  const { publicUrl, resource, links, budget, inFlightMaxBytes, bodyMaxBytes, renderMs, outputMaxBytes, log } = deps;
  const kept = createKeptPdfs(deps.store, links);
  const description = toolDescription({ bodyMaxBytes, renderMs, outputMaxBytes, linkMs: links.ttlMs });
  const linkOf = (token: string) => `${publicUrl}${LINK_PATH}/${token}`;
  const shares = createAccountShares(deps, ANSWERS_SHARE, RESOURCE_MAX_BYTES * HELD_PER_EMBEDDED_BYTE);
  const { accept, serve } = endpoint({ ...deps, kept, description, linkOf, shares });
  const body = jsonBody({ maxBytes: bodyMaxBytes, ...BODY_TIMES, words: WORDS }, budget);
  const door = [ownOrigin(publicUrl), mcpBearer(deps, accept)];
  return [
    ...protectedResource(publicUrl, resource),
    { method: 'post', path: MCP_PATH, handle: [...door, body, serve] },
    // Some clients knock with these first, and learn from the refusal how to get in.
    { method: 'get', path: MCP_PATH, handle: [...door, postsAlone] },
    { method: 'delete', path: MCP_PATH, handle: [...door, postsAlone] },
    linkRoute({ kept, budget, inFlightMaxBytes, log }),
  ];
}

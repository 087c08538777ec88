// The MCP server of one HTTP request: the tool, and the resources that its answers name. Stateless, so that any process answers any call.
import type { McpServer, ReadResourceResult } from '@modelcontextprotocol/server';
import { API_VERSION } from '../../contract/openapi.ts';
import { embeddedPdf, resourceUri } from './answers.ts';
import { HELD_PER_EMBEDDED_BYTE, type McpCall, type RenderPdfDeps, renderPdf } from './render-pdf.ts';
import { ANNOTATIONS, inputSchema, outputSchema, TOOL_NAME } from './tool.ts';

/** Loaded at the first call. */
export type Sdk = typeof import('@modelcontextprotocol/server');

export interface ServerDeps extends RenderPdfDeps {
  publicUrl: string;
  /** The tool's. */
  description: string;
}

/** What a client reads through its model. A larger PDF is downloaded by its link. */
const RESOURCE_MAX_BYTES = 8 * 2 ** 20;

const INSTRUCTIONS = `Call ${TOOL_NAME} when somebody wants a PDF of a page or of something that you wrote, and show the link in the answer.`;

async function readPdf(sdk: Sdk, { kept, log }: ServerDeps, call: McpCall, uri: URL): Promise<ReadResourceResult> {
  const { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } = sdk;
  const { access, reservation, requestId } = call;
  const { href } = uri;
  try {
    const renderId = href.slice(resourceUri('').length);
    const found = await kept.byRender(renderId, access);
    // The same for one of somebody else's.
    if (!found) throw new ResourceNotFoundError(href, 'There is no such PDF of yours, or its time is over. Render the document again.');
    if (found.length > RESOURCE_MAX_BYTES)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The PDF is too large to be read here. Download it by the link.');
    if (!reservation.take(found.length * HELD_PER_EMBEDDED_BYTE))
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'The service is busy at the moment. Try again.');
    const pieces: Buffer[] = [];
    for await (const piece of kept.read(found)) pieces.push(piece);
    return { contents: [embeddedPdf(renderId, Buffer.concat(pieces, found.length))] };
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    log.warn({ requestId, reason: (error as Error).message }, 'a kept PDF could not be read');
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The PDF cannot be read at the moment. Try again.');
  }
}

export function createServer(sdk: Sdk, deps: ServerDeps, call: McpCall): McpServer {
  const { McpServer, ResourceTemplate } = sdk;
  const server = new McpServer(
    { name: 'pressroom', title: 'Pressroom', version: API_VERSION, websiteUrl: deps.publicUrl },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false }, resources: { listChanged: false } } },
  );
  server.registerTool(
    TOOL_NAME,
    { title: ANNOTATIONS.title, description: deps.description, inputSchema, outputSchema, annotations: ANNOTATIONS },
    (given, context) => renderPdf(deps, call, given, context),
  );
  server.registerResource(
    'rendered PDF',
    // Nothing is listed: each is named by the answer that made it.
    new ResourceTemplate(resourceUri('{id}'), { list: undefined }),
    { title: 'A rendered PDF', description: 'The PDF of a render, for as long as its link works.', mimeType: 'application/pdf' },
    uri => readPdf(sdk, deps, call, uri),
  );
  return server;
}

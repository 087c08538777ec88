// The MCP server of one HTTP request: the tool and the resources of its results. Stateless, so that
// any process can handle any call.
import type { McpServer, ReadResourceResult } from '@modelcontextprotocol/server';
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import { API_VERSION } from '../../../common/contract/openapi.ts';
import { asApiError } from '../../http/errors.ts';
import { embeddedPdf, MIME_TYPE, resourceUri } from './answers.ts';
import {
  HELD_PER_EMBEDDED_BYTE,
  type McpCall,
  type RenderPdfDeps,
  renderPdf,
} from './render-pdf.ts';
import { ANNOTATIONS, inputSchema, outputSchema, TOOL_NAME } from './tool.ts';

/** Loaded with the first call. */
export type Sdk = typeof import('@modelcontextprotocol/server');

export interface ServerDeps extends RenderPdfDeps {
  publicUrl: string;
  /** The description of the tool. */
  description: string;
}

/** A client's model reads the resource, so larger PDFs are downloaded with their link. */
export const RESOURCE_MAX_BYTES = 8 * 2 ** 20;

const INSTRUCTIONS = `Call ${TOOL_NAME} when the user wants a PDF of a web page or of content that you wrote, and show the link in your reply.`;

/** Constant within a process; after an upgrade clients may use the old one for this long. */
const DESCRIPTION = { ttlMs: 300_000, cacheScope: 'private' } as const;
const CACHE_HINTS = {
  'server/discover': DESCRIPTION,
  'tools/list': DESCRIPTION,
  'resources/list': DESCRIPTION,
  'resources/templates/list': DESCRIPTION,
};

const noSuchPdf = () =>
  new ApiError(
    'not_found',
    'PDF not found: it has expired or belongs to another user. Render the document again.',
  );
const busy = () =>
  new ApiError('unavailable', 'The service is busy. Try again in 1 s.', { retryAfterS: 1 });

async function pdfOf(
  { pdfs }: ServerDeps,
  { access, reserveForPdf }: McpCall,
  renderId: string,
): Promise<Buffer> {
  const found = await pdfs.byRender(renderId, access);
  // The same error for the PDF of another user.
  if (!found) throw noSuchPdf();
  if (found.length > RESOURCE_MAX_BYTES)
    throw invalid('The PDF is too large to read as a resource. Download it with the link.');
  if (!reserveForPdf(found.length * HELD_PER_EMBEDDED_BYTE)) throw busy();
  const pieces: Buffer[] = [];
  for await (const piece of pdfs.read(found)) pieces.push(piece);
  return Buffer.concat(pieces, found.length);
}

async function readPdf(
  sdk: Sdk,
  deps: ServerDeps,
  call: McpCall,
  { href }: URL,
): Promise<ReadResourceResult> {
  const { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } = sdk;
  const renderId = href.slice(resourceUri('').length);
  try {
    return { contents: [embeddedPdf(renderId, await pdfOf(deps, call, renderId))] };
  } catch (thrown) {
    const error = asApiError(thrown, false);
    call.failed(error);
    if (error.code === 'not_found') throw new ResourceNotFoundError(href, error.message);
    if (error.code === 'validation_error')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    if (error.cause)
      deps.log.warn(
        { requestId: call.requestId, reason: (error.cause as Error).message },
        'could not read a stored PDF',
      );
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
  }
}

export function createServer(sdk: Sdk, deps: ServerDeps, call: McpCall): McpServer {
  const { McpServer, ResourceTemplate } = sdk;
  const server = new McpServer(
    { name: 'pressroom', title: 'Pressroom', version: API_VERSION, websiteUrl: deps.publicUrl },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      cacheHints: CACHE_HINTS,
    },
  );
  server.registerTool(
    TOOL_NAME,
    {
      title: ANNOTATIONS.title,
      description: deps.description,
      inputSchema,
      outputSchema,
      annotations: ANNOTATIONS,
    },
    (given, context) => renderPdf(deps, call, given, context),
  );
  server.registerResource(
    'rendered PDF',
    // Not listed: each URI is in the result of its render.
    new ResourceTemplate(resourceUri('{id}'), { list: undefined }),
    {
      title: 'Rendered PDF',
      description: 'The PDF of a render, available until its link expires.',
      mimeType: MIME_TYPE,
    },
    uri => readPdf(sdk, deps, call, uri),
  );
  return server;
}

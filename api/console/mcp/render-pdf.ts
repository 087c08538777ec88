// One call of the tool: the same use case as /v1/render, for the person who allowed the client, and
// a link in place of the PDF.
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { type ApiError, invalid } from '../../../common/contract/errors.ts';
import { kindOf, quoted } from '../../../common/contract/problems.ts';
import { parseRenderRequest, type RenderRequest } from '../../../common/contract/render-request.ts';
import type { Log } from '../../../common/log.ts';
import { redactedRequest } from '../../history/redacted-request.ts';
import type { Reservation } from '../../http/byte-budget.ts';
import { ClientClosed } from '../../http/client-disconnect.ts';
import { asApiError } from '../../http/errors.ts';
import type { RenderTrace } from '../../render/render.ts';
import { pdfFilename } from '../downloads/filename.ts';
import type { PdfStore } from '../downloads/pdf-store.ts';
import { mayReachIntranet } from '../kit/intranet.ts';
import type { GrantedAccess } from '../oauth/access.ts';
import type { PlaygroundDeps } from '../routes/playground.ts';
import { CANCELLED, failure, success } from './answers.ts';
import { reportProgress } from './progress.ts';
import { DELIVERIES, type Delivery, EMBEDDED_MAX_BYTES } from './tool.ts';

export interface RenderPdfDeps
  extends Pick<PlaygroundDeps, 'store' | 'render' | 'renders' | 'ports'> {
  pdfs: PdfStore;
  /** Of a token, the link. */
  linkOf(token: string): string;
  log: Log;
}

/** The HTTP request in which the call came. */
export interface McpCall {
  access: GrantedAccess;
  requestId: string;
  bodyBytes: number;
  reservation: Reservation;
  /** Memory for a PDF in the answer. False when there is none. */
  takeForAnswer(bytes: number): boolean;
  /** Aborts with ClientClosed when nobody waits any more. */
  signal: AbortSignal;
  /** Hears how the call went wrong, for the logs. */
  failed(error: ApiError | ClientClosed): void;
}

/** As base64, in the JSON text, and as the bytes of that. */
export const HELD_PER_EMBEDDED_BYTE = 4;

function deliveryOf(value: unknown): Delivery {
  if (value === undefined) return 'link';
  const known = DELIVERIES.find(delivery => delivery === value);
  if (known) return known;
  throw invalid(
    `\`delivery\` must be \`link\` or \`embedded\`, not ${typeof value === 'string' ? quoted(value) : kindOf(value)}.`,
  );
}

function embed(pdf: Buffer, { takeForAnswer }: McpCall): { embedded?: Buffer; note?: string } {
  if (pdf.length > EMBEDDED_MAX_BYTES)
    return { note: 'It is too large to be embedded: use the link.' };
  if (!takeForAnswer(pdf.length * HELD_PER_EMBEDDED_BYTE))
    return { note: 'The service is too busy to embed it: use the link.' };
  return { embedded: pdf };
}

async function rendered(
  deps: RenderPdfDeps,
  call: McpCall,
  given: unknown,
  signal: AbortSignal,
  onTrace: (trace: RenderTrace) => void,
) {
  const { store, render, renders, ports, pdfs } = deps;
  const { access, requestId, bodyBytes, reservation } = call;
  const { account, user, clientName } = access;
  const { delivery: wanted, ...fields } = given as Record<string, unknown>;
  const made = await renders.logged(requestId, 'mcp', async entry => {
    entry.who = { account, user, ...(clientName !== '' && { app: clientName }) };
    onTrace(entry.trace);
    const room = pdfs.checkQuota(account);
    room.catch(() => {}); // what is wrong with the request is said first
    const delivery = deliveryOf(wanted);
    const request: RenderRequest = parseRenderRequest(fields, {
      ...ports,
      intranet: await mayReachIntranet(store, account),
    });
    entry.request = redactedRequest(request);
    await room;
    const result = await render(
      request,
      { accountId: account, user, requestId },
      { bodyBytes, budget: reservation },
      signal,
      entry.trace,
    );
    return { ...result, delivery, filename: pdfFilename(request.metadata?.title) };
  });
  // Counted already, as it would be with a PDF that its caller does not read to the end.
  const { pdf, pages, sandbox, delivery, filename } = made;
  const { token, sha256, expiresAt } = await pdfs.save(
    { renderId: requestId, account, user, filename, pages, pdf },
    signal,
  );
  return success({
    result: {
      url: deps.linkOf(token),
      expires_at: expiresAt.toISOString(),
      bytes: pdf.length,
      pages,
      sha256,
      filename,
      render_id: requestId,
    },
    sandbox,
    ...(delivery === 'embedded' && embed(pdf, call)),
  });
}

/** Answers always: what goes wrong is an answer too, for the model to read. */
export async function renderPdf(
  deps: RenderPdfDeps,
  call: McpCall,
  given: unknown,
  context: ServerContext,
): Promise<CallToolResult> {
  const { requestId } = call;
  const cancelled = new AbortController();
  const onCancel = () => cancelled.abort(new ClientClosed());
  context.mcpReq.signal.addEventListener('abort', onCancel);
  if (context.mcpReq.signal.aborted) onCancel();
  let trace: RenderTrace | undefined;
  const endProgress = reportProgress(context, () => trace);
  try {
    const onTrace = (begun: RenderTrace) => {
      trace = begun;
    };
    return await rendered(
      deps,
      call,
      given,
      AbortSignal.any([call.signal, cancelled.signal]),
      onTrace,
    );
  } catch (thrown) {
    if (thrown instanceof ClientClosed) {
      call.failed(thrown);
      return CANCELLED;
    }
    const error = asApiError(thrown, true);
    call.failed(error);
    if (error.reason === 'internal')
      deps.log.error({ err: error.cause ?? error, requestId }, 'unexpected error');
    else if (
      error.cause instanceof Error &&
      (error.reason === 'database' || error.code === 'unavailable')
    )
      deps.log.warn({ requestId, reason: error.cause.message }, 'the database failed a request');
    return failure(error, requestId);
  } finally {
    endProgress();
    context.mcpReq.signal.removeEventListener('abort', onCancel);
  }
}

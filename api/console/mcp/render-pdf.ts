// One call of the tool: the use case of /v1/render for the user who authorized the client. Returns
// a link instead of the PDF.
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { type ApiError, invalid } from '../../../common/contract/errors.ts';
import { kindOf, quoted } from '../../../common/contract/problems.ts';
import { parseRenderRequest } from '../../../common/contract/render-request.ts';
import type { Log } from '../../../common/log.ts';
import { type RenderEntry, validated } from '../../history/render-entry.ts';
import type { Reservation } from '../../http/byte-budget.ts';
import { asApiError, ClientClosed } from '../../http/errors.ts';
import { pdfFilename } from '../../pdf/filename.ts';
import type { RenderTrace } from '../../render/render.ts';
import type { PdfStore } from '../downloads/pdf-store.ts';
import { mayReachIntranet } from '../kit/intranet.ts';
import type { GrantedAccess } from '../oauth/access.ts';
import type { PlaygroundDeps } from '../routes/playground.ts';
import { CANCELLED, failure, success } from './answers.ts';
import { reportProgress } from './progress.ts';
import { DELIVERIES, type Delivery, EMBEDDED_MAX_BYTES } from './tool.ts';

export interface RenderPdfDeps
  extends Pick<PlaygroundDeps, 'store' | 'render' | 'renders' | 'rules'> {
  pdfs: PdfStore;
  /** The link of a token. */
  linkOf(token: string): string;
  log: Log;
}

/** The HTTP request of the call. */
export interface McpCall {
  access: GrantedAccess;
  requestId: string;
  bodyBytes: number;
  reservation: Reservation;
  /** Adds the render to the log line of the request. */
  beginEntry(): RenderEntry;
  /** Reserves memory for a PDF in the result. False when the budget is exhausted. */
  reserveForPdf(bytes: number): boolean;
  /** Aborts with ClientClosed when the client has disconnected. */
  signal: AbortSignal;
  /** Receives the error of the call, for the log. */
  failed(error: ApiError | ClientClosed): void;
}

/** The PDF as base64, as part of the JSON text, and as the bytes of that text. */
export const HELD_PER_EMBEDDED_BYTE = 4;

function deliveryOf(value: unknown): Delivery {
  if (value === undefined) return 'link';
  const known = DELIVERIES.find(delivery => delivery === value);
  if (known) return known;
  throw invalid(
    `\`delivery\` must be \`link\` or \`embedded\`, not ${typeof value === 'string' ? quoted(value) : kindOf(value)}.`,
  );
}

function embed(pdf: Buffer, { reserveForPdf }: McpCall): { embedded?: Buffer; note?: string } {
  if (pdf.length > EMBEDDED_MAX_BYTES)
    return { note: 'The PDF is too large to embed. Use the link.' };
  if (!reserveForPdf(pdf.length * HELD_PER_EMBEDDED_BYTE))
    return { note: 'The service is too busy to embed the PDF. Use the link.' };
  return { embedded: pdf };
}

async function renderAndStore(
  deps: RenderPdfDeps,
  call: McpCall,
  given: unknown,
  signal: AbortSignal,
  onTrace: (trace: RenderTrace) => void,
) {
  const { store, render, renders, rules, pdfs } = deps;
  const { access, requestId, bodyBytes, reservation } = call;
  const { account, user, clientName } = access;
  const { delivery: desired, ...fields } = given as Record<string, unknown>;
  const entry = call.beginEntry();
  entry.who = { account, user, ...(clientName !== '' && { app: clientName }) };
  onTrace(entry.trace);
  const rendered = await renders.logged(entry, 'mcp', async () => {
    const quota = pdfs.checkQuota(account);
    quota.catch(() => {}); // an invalid request is reported first
    let delivery = 'link' as Delivery;
    const request = await validated(entry, fields, async () => {
      delivery = deliveryOf(desired);
      const intranet = await mayReachIntranet(store, account);
      return parseRenderRequest(fields, { ...rules, intranet });
    });
    await quota;
    const result = await render(
      request,
      { accountId: account, user, requestId },
      { bodyBytes, budget: reservation },
      signal,
      entry.trace,
    );
    return {
      ...result,
      delivery,
      filename: pdfFilename(request.filename),
    };
  });
  // Already counted, like a PDF that the caller of /v1/render does not read to the end.
  const { pdf, pages, sandbox, delivery, filename } = rendered;
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

/** Never rejects: an error is a result too, for the model to read. */
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
    const onTrace = (started: RenderTrace) => {
      trace = started;
    };
    return await renderAndStore(
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

// Runs one playground render at a time, with cancellation, and owns the blob URL of the PDF.
import { useCallback, useEffect, useRef, useState } from 'react';
import { CallFailed, send } from '../session/api.ts';
import type { RequestOptions } from './request.ts';
import { phasesOf, type TimedPhase } from './server-timing.ts';

export interface RenderedPdf {
  /** A blob URL, revoked on the next render and on unmount. */
  pdfUrl: string;
  bytes: number;
  filename: string;
  pages: number | undefined;
  phases: TimedPhase[];
  /** Usage in this billing period; undefined if this render was not counted. */
  usage: number | undefined;
  sandbox: boolean;
  requestId: string | undefined;
  /** Measured in the browser. */
  tookMs: number;
}

export type RenderState =
  | { is: 'idle' }
  | { is: 'running' }
  | { is: 'canceled' }
  | { is: 'failed'; error: CallFailed; tookMs: number }
  | { is: 'done'; rendered: RenderedPdf };

const figure = (headers: Headers, name: string): number | undefined => {
  const text = headers.get(name);
  return text === null ? undefined : Number(text);
};

/** Of a header as Pressroom sends it (RFC 6266): the encoded name, if there is one. */
function filenameOf(disposition: string | null): string {
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(disposition ?? '')?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="([^"]+)"/.exec(disposition ?? '')?.[1] ?? 'render.pdf';
}

async function renderedFrom(response: Response, startMs: number): Promise<RenderedPdf> {
  const pdf = await response.blob();
  const { headers } = response;
  return {
    pdfUrl: URL.createObjectURL(pdf),
    bytes: pdf.size,
    filename: filenameOf(headers.get('Content-Disposition')),
    pages: figure(headers, 'X-Pdf-Pages'),
    phases: phasesOf(headers.get('Server-Timing')),
    usage: figure(headers, 'X-Usage-Count'),
    sandbox: headers.get('X-Sandbox') === 'true',
    requestId: headers.get('X-Request-Id') ?? undefined,
    tookMs: performance.now() - startMs,
  };
}

export function useRender(accountId: string) {
  const [state, setState] = useState<RenderState>({ is: 'idle' });
  const running = useRef<AbortController>(undefined);
  const pdfUrl = state.is === 'done' ? state.rendered.pdfUrl : undefined;
  useEffect(() => () => void (pdfUrl && URL.revokeObjectURL(pdfUrl)), [pdfUrl]);
  useEffect(() => () => running.current?.abort(), []);

  const render = useCallback(
    async (body: RequestOptions) => {
      if (running.current) return;
      const call = new AbortController();
      running.current = call;
      setState({ is: 'running' });
      const startMs = performance.now();
      try {
        const response = await send(
          'POST',
          `/accounts/${accountId}/playground/render`,
          body,
          call.signal,
        );
        setState({ is: 'done', rendered: await renderedFrom(response, startMs) });
      } catch (error) {
        if (call.signal.aborted) setState({ is: 'canceled' });
        else if (error instanceof CallFailed)
          setState({ is: 'failed', error, tookMs: performance.now() - startMs });
        else
          setState({
            is: 'failed',
            error: new CallFailed(
              0,
              'unreachable',
              'The connection was lost before the PDF was complete. Try again.',
            ),
            tookMs: performance.now() - startMs,
          });
      } finally {
        running.current = undefined;
      }
    },
    [accountId],
  );
  const cancel = useCallback(() => running.current?.abort(), []);
  return { state, render, cancel };
}

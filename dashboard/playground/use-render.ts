// One render at a time in the playground: the call, its cancelling, and the PDF for as long as it
// is shown.
import { useCallback, useEffect, useRef, useState } from 'react';
import { CallFailed, send } from '../session/api.ts';
import type { RequestOptions } from './request.ts';
import { phasesOf, type TimedPhase } from './server-timing.ts';

export interface RenderedPdf {
  /** A blob address of the PDF, good until the next render or the end of the screen. */
  pdfUrl: string;
  bytes: number;
  pages: number | undefined;
  phases: TimedPhase[];
  /** Renders of this period; undefined when this one was not counted. */
  usage: number | undefined;
  sandbox: boolean;
  requestId: string | undefined;
  /** As the browser saw it. */
  tookMs: number;
}

export type RenderState =
  | { is: 'idle' }
  | { is: 'running' }
  | { is: 'cancelled' }
  | { is: 'failed'; error: CallFailed; tookMs: number }
  | { is: 'done'; rendered: RenderedPdf };

const figure = (headers: Headers, name: string): number | undefined => {
  const text = headers.get(name);
  return text === null ? undefined : Number(text);
};

async function renderedFrom(answer: Response, startMs: number): Promise<RenderedPdf> {
  const pdf = await answer.blob();
  const { headers } = answer;
  return {
    pdfUrl: URL.createObjectURL(pdf),
    bytes: pdf.size,
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
        const answer = await send(
          'POST',
          `/accounts/${accountId}/playground/render`,
          body,
          call.signal,
        );
        setState({ is: 'done', rendered: await renderedFrom(answer, startMs) });
      } catch (error) {
        if (call.signal.aborted) setState({ is: 'cancelled' });
        else if (error instanceof CallFailed)
          setState({ is: 'failed', error, tookMs: performance.now() - startMs });
        else
          setState({
            is: 'failed',
            error: new CallFailed(
              0,
              'unreachable',
              'The connection broke before the whole PDF had arrived. Try again.',
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

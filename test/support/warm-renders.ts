// Renders of static documents at one worker, in a warm page or a fresh one.
import { overloaded } from '../../api/http/byte-budget.ts';
import { runPageSession } from '../../api/page/page-session.ts';
import { renderSettings } from '../../api/page/render-settings.ts';
import type { Session } from '../../api/workers/session.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';
import { PUBLIC } from './request-error.ts';
import type { TestWorker } from './worker.ts';

const LIMITS = { renderMs: 20_000, output: { maxBytes: 2 ** 24, tagged: true } };
const BUDGET = { reserve: () => true, release: () => {}, overBudget: overloaded };

/** `isolation` is that of the settings; the page of the session may be another one. */
export async function printOn(
  session: Session,
  html: string,
  isolation: 'warm' | 'fresh',
): Promise<Buffer> {
  const settings = renderSettings(parseRenderRequest({ html }, PUBLIC));
  const { pdf } = await runPageSession(
    session,
    { ...settings, isolation },
    LIMITS,
    BUDGET,
    new AbortController().signal,
    {},
  );
  return Buffer.concat(pdf.pieces);
}

/** Rejects as the page session does; the slot has then ended as after a failed render. */
export async function renderStatic(
  worker: TestWorker,
  html: string,
  { account = 'a', isolation = 'warm' as 'warm' | 'fresh' } = {},
): Promise<Buffer> {
  const session = await worker.open({
    account,
    ...(isolation === 'warm' && { isolation }),
  });
  try {
    const pdf = await printOn(session, html, isolation);
    session.close();
    return pdf;
  } catch (error) {
    await session.abandon();
    throw error;
  }
}

/** The PDF without its dates. */
export const withoutDates = (pdf: Buffer): string =>
  pdf.toString('latin1').replaceAll(/\/(CreationDate|ModDate) \(D:[^)]*\)/g, '/$1 ()');

/** Renders that used a kept page. */
export const warmRenders = async ({ metrics }: TestWorker): Promise<number> =>
  Number(/^pressroom_worker_warm_renders_total (\d+)/m.exec(await metrics.text())?.[1]);

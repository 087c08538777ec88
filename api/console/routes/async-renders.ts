// The routes for the asynchronous renders and batches of an account: list, detail, cancel and
// download. They show what the public API shows, and never a request.
import { batchSchema } from '../../../common/contract/batches.ts';
import { type KeyNames, keyNames } from '../../history/key-names.ts';
import { attemptHistory, codeOf, type JobAttempt } from '../../jobs/attempt-log.ts';
import { type AsyncRenderRoutes, shownJob } from '../../routes/async-renders.ts';
import { type BatchRoutes, shownBatch } from '../../routes/batches.ts';
import type { JobDocument, Store } from '../../store/store.ts';
import {
  type AsyncAttempt,
  type AsyncRenderView,
  asyncRenderDetail,
  asyncRenderView,
  asyncRenderViewQuery,
  asyncRenderViews,
} from '../contract/async-renders.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { type Audit, batchCanceled, renderCanceled } from '../security/audit.ts';

export interface AsyncRenderDeps {
  publicUrl: string;
  store: Store;
  audit: Audit;
  asynchronous: Pick<AsyncRenderRoutes, 'jobs' | 'sendPdf'> & Pick<BatchRoutes, 'batches'>;
}

const shownAttempt = ({ startedAt, endedAt, outcome, error }: JobAttempt): AsyncAttempt => ({
  started_at: startedAt.toISOString(),
  ...(endedAt && { ended_at: endedAt.toISOString() }),
  outcome,
  ...(error && { error: codeOf(error) }),
});

export const asyncRenderRows = ({
  publicUrl,
  store,
  audit,
  asynchronous: { jobs, batches, sendPdf },
}: AsyncRenderDeps): ConsoleRoute[] => {
  const shown = (job: JobDocument, nameOf: KeyNames): AsyncRenderView => ({
    ...shownJob(job, publicUrl),
    key: nameOf(job.key),
  });

  return [
    route({
      method: 'get',
      path: '/accounts/:account/async-renders',
      id: 'listAsyncRenders',
      summary: 'List the asynchronous renders, newest first.',
      access: { permission: 'renders.read' },
      query: asyncRenderViewQuery,
      answer: asyncRenderViews,
      handle: async ({ account, query }) => {
        const [{ items, next }, nameOf] = await Promise.all([
          jobs.list(account.id, query),
          keyNames(store, account.id),
        ]);
        return { items: items.map(job => shown(job, nameOf)), next };
      },
    }),
    route({
      method: 'get',
      path: '/accounts/:account/async-renders/:render',
      id: 'getAsyncRender',
      summary: 'Retrieve the status of an asynchronous render.',
      access: { permission: 'renders.read' },
      answer: asyncRenderDetail,
      handle: async ({ account, params }) => {
        const job = await jobs.find(account.id, params['render']!);
        const view = shown(job, await keyNames(store, account.id));
        return { ...view, attempt_log: attemptHistory(job).map(shownAttempt) };
      },
    }),
    route({
      method: 'delete',
      path: '/accounts/:account/async-renders/:render',
      id: 'cancelAsyncRender',
      summary: 'Cancel an asynchronous render that is queued or running.',
      access: { permission: 'renders.write' },
      answer: asyncRenderView,
      handle: async call => {
        const { account, params } = call;
        const job = await jobs.cancel(account.id, params['render']!, canceled =>
          audit.record(call, renderCanceled(canceled)),
        );
        return shown(job, await keyNames(store, account.id));
      },
    }),
    route({
      method: 'get',
      path: '/accounts/:account/async-renders/:render/pdf',
      id: 'downloadAsyncRender',
      summary: 'Download the PDF of an asynchronous render, until the render expires.',
      access: { permission: 'renders.write' },
      answer: 'application/pdf',
      handle: async ({ account, params, ctx }) =>
        sendPdf(ctx, await jobs.pdf(account.id, params['render']!)),
    }),
    route({
      method: 'get',
      path: '/accounts/:account/batches/:batch',
      id: 'getAsyncBatch',
      summary: 'Retrieve a batch: the number of its renders by status.',
      access: { permission: 'renders.read' },
      answer: batchSchema,
      handle: async ({ account, params }) =>
        shownBatch(await batches.find(account.id, params['batch']!), publicUrl),
    }),
    route({
      method: 'delete',
      path: '/accounts/:account/batches/:batch',
      id: 'cancelAsyncBatch',
      summary: 'Cancel the renders of a batch that are queued or running.',
      access: { permission: 'renders.write' },
      answer: batchSchema,
      handle: async call => {
        const { account, params } = call;
        const id = params['batch']!;
        const batch = await batches.cancel(account.id, id, canceled =>
          audit.record(call, batchCanceled(id, canceled)),
        );
        return shownBatch(batch, publicUrl);
      },
    }),
  ];
};

// The operations of asynchronous renders in the OpenAPI document.
import { STORED_PDF_HEADERS } from './answers.ts';
import {
  ASYNC_RENDER_NAMES,
  asyncRenderListQuerySchema,
  asyncRenderWaitQuerySchema,
  cancelErrorCases,
  EXAMPLE_ASYNC_REQUESTS,
  EXAMPLE_QUEUED,
  EXAMPLE_SUCCEEDED,
  getErrorCases,
  listErrorCases,
  managesUnauthorized,
  pdfErrorCases,
  readsUnauthorized,
  submitErrorCases,
} from './async-renders.ts';
import {
  batchErrorCases,
  EXAMPLE_BATCH,
  EXAMPLE_BATCH_ITEMS,
  EXAMPLE_FINISHED_BATCH,
  submitBatchErrorCases,
} from './batches.ts';
import { schemaRef } from './json-schema.ts';
import {
  errorAnswers,
  jsonResponse,
  type Operation,
  type Parameter,
  pdfAnswer,
  queryParameters,
} from './openapi-parts.ts';

/** Method and path of each operation, for the router and the document. */
export const ASYNC_OPERATIONS = {
  submitRender: { method: 'post', path: '/v1/renders' },
  listRenders: { method: 'get', path: '/v1/renders' },
  getRender: { method: 'get', path: '/v1/renders/{id}' },
  cancelRender: { method: 'delete', path: '/v1/renders/{id}' },
  getRenderPdf: { method: 'get', path: '/v1/renders/{id}/pdf' },
  submitBatch: { method: 'post', path: '/v1/batches' },
  getBatch: { method: 'get', path: '/v1/batches/{id}' },
  cancelBatch: { method: 'delete', path: '/v1/batches/{id}' },
} as const;

const idOf = (what: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description: `The ID of the ${what}.`,
  schema: { type: 'string' },
});
const ID = idOf('render');
const BATCH_ID = idOf('batch');

const common = (operationId: keyof typeof ASYNC_OPERATIONS) => ({
  operationId,
  tags: ['Rendering' as const],
  security: [{ apiKey: [] }],
});

const submit = (dashboardUrl: string): Operation => ({
  ...common('submitRender'),
  summary: 'Submit an asynchronous render',
  description:
    'Stores the request and returns at once. The render waits until your plan allows one more, and survives restarts of the service. The request and the PDF are stored encrypted until the render expires. A render is tried again after a worker or server failed, at most 3 times. Only successful renders count toward usage.',
  requestBody: {
    required: true,
    description: 'The render request. Only `html` or `url` is required.',
    content: {
      'application/json': {
        schema: schemaRef('AsyncRenderRequest'),
        examples: EXAMPLE_ASYNC_REQUESTS,
      },
    },
  },
  responses: {
    '202': jsonResponse('The render is stored.', 'AsyncRender', EXAMPLE_QUEUED, [
      'Location',
      'Retry-After',
    ]),
    ...errorAnswers(submitErrorCases(dashboardUrl)),
  },
});

const list = (): Operation => ({
  ...common('listRenders'),
  summary: 'List asynchronous renders',
  description:
    'Returns the asynchronous renders of the account, newest first. Requires an API key with the scope `read` or `render`.',
  parameters: queryParameters(
    asyncRenderListQuerySchema,
    'AsyncRenderListQuery',
    ASYNC_RENDER_NAMES,
  ),
  responses: {
    '200': jsonResponse('A page of renders.', 'AsyncRenderList', {
      items: [EXAMPLE_SUCCEEDED],
      next: null,
    }),
    ...errorAnswers(listErrorCases),
  },
});

const get = (): Operation => ({
  ...common('getRender'),
  summary: 'Retrieve an asynchronous render',
  description:
    'Returns the status of a render. With `wait` the answer comes when the render has ended. Requires an API key with the scope `read` or `render`.',
  parameters: [ID, ...queryParameters(asyncRenderWaitQuerySchema, 'AsyncRenderWaitQuery')],
  responses: {
    '200': jsonResponse(
      'The render. `Retry-After` is sent while it is unfinished.',
      'AsyncRender',
      EXAMPLE_SUCCEEDED,
      ['Retry-After'],
    ),
    ...errorAnswers(getErrorCases),
  },
});

const cancel: Operation = {
  ...common('cancelRender'),
  summary: 'Cancel an asynchronous render',
  description:
    'Cancels a queued or running render. A running render stops within a second. Canceled renders are not counted. Canceling a canceled render has no effect. Requires an API key with the scope `render`.',
  parameters: [ID],
  responses: {
    '200': jsonResponse('The render is canceled.', 'AsyncRender', {
      ...EXAMPLE_QUEUED,
      status: 'canceled',
    }),
    ...errorAnswers(cancelErrorCases),
  },
};

const pdf: Operation = {
  ...common('getRenderPdf'),
  summary: 'Download the PDF of an asynchronous render',
  description:
    'Returns the PDF of a render that succeeded, until it expires. Requires an API key with the scope `render`.',
  parameters: [ID],
  responses: {
    '200': pdfAnswer(STORED_PDF_HEADERS),
    ...errorAnswers(pdfErrorCases),
  },
};

const submitBatch = (dashboardUrl: string): Operation => ({
  ...common('submitBatch'),
  summary: 'Submit a batch of renders',
  description:
    'Queues up to 1,000 asynchronous renders, all or none. The body has one render request per line (NDJSON), or is a JSON array. Before the first request there may be an object with `defaults`: fields for all requests that do not have them. Requires an API key with the scope `render`.',
  requestBody: {
    required: true,
    description: 'The render requests.',
    content: {
      'application/x-ndjson': {
        schema: { type: 'string', description: 'An item of `BatchRequest` per line.' },
        examples: {
          invoices: {
            summary: 'Two invoices with shared fields',
            value: EXAMPLE_BATCH_ITEMS.map(item => JSON.stringify(item)).join('\n'),
          },
        },
      },
      'application/json': {
        schema: schemaRef('BatchRequest'),
        examples: {
          invoices: { summary: 'Two invoices with shared fields', value: EXAMPLE_BATCH_ITEMS },
        },
      },
    },
  },
  responses: {
    '202': jsonResponse('The renders are queued.', 'Batch', EXAMPLE_BATCH, [
      'Location',
      'Retry-After',
    ]),
    ...errorAnswers(submitBatchErrorCases(dashboardUrl)),
  },
});

const getBatch: Operation = {
  ...common('getBatch'),
  summary: 'Retrieve a batch',
  description:
    'Returns how many renders of the batch have each status. Requires an API key with the scope `read` or `render`.',
  parameters: [BATCH_ID],
  responses: {
    '200': jsonResponse(
      'The batch. `Retry-After` is sent while a render is unfinished.',
      'Batch',
      EXAMPLE_FINISHED_BATCH,
      ['Retry-After'],
    ),
    ...errorAnswers(batchErrorCases(readsUnauthorized)),
  },
};

const cancelBatch: Operation = {
  ...common('cancelBatch'),
  summary: 'Cancel a batch',
  description:
    'Cancels the renders of the batch that are queued or running. Those that have ended stay as they are. Requires an API key with the scope `render`.',
  parameters: [BATCH_ID],
  responses: {
    '200': jsonResponse('No render of the batch is unfinished.', 'Batch', {
      ...EXAMPLE_BATCH,
      counts: { ...EXAMPLE_BATCH.counts, queued: 0, canceled: 2 },
    }),
    ...errorAnswers(batchErrorCases(managesUnauthorized)),
  },
};

/** The paths of the document. */
export const asyncPaths = (dashboardUrl: string): Record<string, Record<string, Operation>> => ({
  '/v1/renders': { post: submit(dashboardUrl), get: list() },
  '/v1/renders/{id}': { get: get(), delete: cancel },
  '/v1/renders/{id}/pdf': { get: pdf },
  '/v1/batches': { post: submitBatch(dashboardUrl) },
  '/v1/batches/{id}': { get: getBatch, delete: cancelBatch },
});

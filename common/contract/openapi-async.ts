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
  pdfErrorCases,
  submitErrorCases,
} from './async-renders.ts';
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
} as const;

const ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The ID of the render.',
  schema: { type: 'string' },
};

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

/** The paths of the document. */
export const asyncPaths = (dashboardUrl: string): Record<string, Record<string, Operation>> => ({
  '/v1/renders': { post: submit(dashboardUrl), get: list() },
  '/v1/renders/{id}': { get: get(), delete: cancel },
  '/v1/renders/{id}/pdf': { get: pdf },
});

// The shared limits of renders and their connections.
import { REQUESTS_BEYOND_PLAN } from '../../api/accounts/account-requests.ts';
import { OF_ONE_ACCOUNT } from '../../api/http/account-shares.ts';
import { BATCH_TIMES, BODY_TIMES, HELD_PER_BODY_BYTE } from '../../api/http/body.ts';
import { MAX_CONNECTIONS } from '../../api/http/server.ts';
import { JOBS_SHARE } from '../../api/jobs/create-jobs.ts';
import { OPEN_PER_TRIAL_SLOT } from '../../api/leases/trial-admission.ts';
import { MAX_WAITING_WATERMARKS as MAX_PDFS_WAITING } from '../../api/pdf/watermark/watermark-pool.ts';
import { DOWNLOADS_SHARE } from '../../api/routes/async-download.ts';
import { MAX_LONG_POLLS } from '../../api/routes/async-renders.ts';
import { TRIAL_SHARE } from '../../api/routes/trial.ts';
import { MAX_BATCH_RENDERS } from '../../common/contract/batches.ts';
import {
  A_QUARTER,
  codeCell,
  failed,
  inverse,
  type LimitRow,
  number,
  quarter,
  seconds,
  variable,
  wholeAndShare,
} from './limit-row.ts';

export const RENDER_LIMITS: LimitRow[] = [
  {
    bound: `Bytes of request bodies (each counts ${HELD_PER_BODY_BYTE} times) and PDFs`,
    whole: variable('PRESSROOM_BYTES_IN_FLIGHT'),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('overloaded')),
    source: 'api.ts',
    proofs: {
      'integration/http/body-shares.test.ts': [
        'responds 429 to an account that holds three quarters of the budget and still serves another account',
      ],
      'integration/http/body.test.ts': [
        'responds overloaded before reading a body that exceeds the remaining budget',
      ],
      'integration/http/shares-slow-bodies.test.ts': [
        'rejects the slow requests and serves every render of another account',
      ],
    },
  },
  {
    bound: 'Bytes of trial requests',
    whole: `${inverse(TRIAL_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `address: ${A_QUARTER}`,
    answer: codeCell('rate_limited'),
    source: 'routes/trial.ts',
    proofs: {
      'integration/trial/memory.test.ts': [
        'use at most a quarter of it, and the rest stays available to customers',
        'leave part of that quarter to other clients when one sends slowly',
      ],
    },
  },
  {
    bound: 'Time to receive a body',
    whole: seconds(BODY_TIMES.totalMs),
    share: `body: ${number(BODY_TIMES.slow.bytesPerS)} bytes/s after ${seconds(BODY_TIMES.slow.graceMs)}, pauses below ${seconds(BODY_TIMES.silentMs)}`,
    answer: codeCell('validation_error'),
    source: 'http/body.ts',
    proofs: {
      'integration/http/body-shares.test.ts': [
        'rejects a body below the minimum rate after the grace period',
      ],
      'integration/http/body.test.ts': [
        'rejects a body when no bytes arrive in time',
        'rejects a body that exceeds the total time while bytes keep arriving',
      ],
    },
  },
  {
    bound: 'Open requests (counted before their bodies are read)',
    whole: 'none',
    share: `account: the concurrency limit of its plan plus ${REQUESTS_BEYOND_PLAN}`,
    answer: codeCell('concurrency_limit'),
    source: 'accounts/account-requests.ts',
    proofs: {
      'integration/accounts/account-requests.test.ts': [
        'are limited to the concurrency limit plus eight, and the next is rejected before its body is read',
      ],
      'integration/mcp/failures.test.ts': [
        'rejects concurrent requests of an account beyond its plan plus eight, before reading the body',
      ],
      'integration/console/playground-failures.test.ts': [
        'rejects more requests of an account than its plan allows plus eight, before reading their bodies',
      ],
    },
  },
  {
    bound: 'Concurrent trial requests',
    whole: `${OPEN_PER_TRIAL_SLOT} for each of ${variable('PRESSROOM_TRIAL_PARALLEL')}`,
    share: `address: ${variable('PRESSROOM_TRIAL_PER_MINUTE')}`,
    answer: codeCell('rate_limited'),
    source: 'leases/trial-admission.ts',
    proofs: {
      'unit/api/leases/trial-admission.test.ts': [
        'admits at most 16 concurrent calls per trial slot from all clients together',
        'admits no more concurrent calls of a client than its calls per minute',
      ],
    },
  },
  {
    bound: 'Connections',
    whole: number(MAX_CONNECTIONS),
    share: `address (IPv6: /64), unless it is a trusted proxy: ${quarter(MAX_CONNECTIONS)}`,
    answer: 'the server closes the connection',
    source: 'http/server.ts',
    proofs: {
      'integration/http/connections.test.ts': [
        'closes connections of an address beyond three quarters of the limit',
      ],
    },
  },
  {
    bound: 'Queued renders',
    whole: variable('PRESSROOM_QUEUE_MAX_RENDERS'),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('queue_full')),
    source: 'queue/fair-queue.ts',
    proofs: {
      'unit/api/queue/fair-queue.test.ts': [
        'leaves a quarter of its length to other accounts when one has filled the rest',
      ],
      'unit/api/queue/dispatcher.test.ts': [
        'rejects an account that has its share of the queue with concurrency_limit',
      ],
      'fault/overload-queue.test.ts': [
        'rejects renders beyond PRESSROOM_QUEUE_MAX_RENDERS at once, with Retry-After',
      ],
    },
  },
  {
    bound: 'Bytes of queued renders',
    whole: variable('PRESSROOM_QUEUE_MAX_BYTES'),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('queue_full')),
    source: 'queue/fair-queue.ts',
    proofs: {
      'fault/overload-queue.test.ts': [
        'rejects an account at its share of the bytes with concurrency_limit, and queues another',
        'rejects a body beyond PRESSROOM_QUEUE_MAX_BYTES at once, and queues smaller ones',
      ],
    },
  },
  {
    bound: 'Watermark threads',
    whole: 'number of cores minus 1, at least 2',
    share: `account: ${A_QUARTER}; never all; accounts alternate`,
    answer: 'the PDF is queued',
    source: 'pdf/watermark/watermark-pool.ts',
    proofs: {
      'unit/api/pdf/watermark/watermark-pool.test.ts': [
        'serves another account while one has slow PDFs',
        'serves accounts in turn',
      ],
    },
  },
  {
    bound: 'PDFs queued for a watermark thread',
    whole: number(MAX_PDFS_WAITING),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('overloaded')),
    source: 'pdf/watermark/watermark-pool.ts',
    proofs: {
      'unit/api/pdf/watermark/watermark-pool.test.ts': [
        'rejects as overloaded when too many PDFs are queued',
        'rejects an account over its fair share, and accepts another one',
      ],
    },
  },
  {
    bound: 'Waiting asynchronous renders (in MongoDB)',
    whole: 'none',
    share: `account: 25,000, or \`queue\` of its plan in \`PRESSROOM_PLANS\``,
    answer: codeCell('concurrency_limit'),
    source: 'jobs/queue-limit.ts',
    proofs: {
      'integration/jobs/async-renders.test.ts': ['refuses more than the queue of the plan holds'],
      'integration/jobs/batches.test.ts': ['have no more renders than may wait'],
    },
  },
  {
    bound: 'Render requests of a batch, and its size',
    whole: 'none',
    share: `batch: ${number(MAX_BATCH_RENDERS)} and ${variable('PRESSROOM_BATCH_BYTES')}, within ${BATCH_TIMES.totalMs / 60_000} min`,
    answer: `${codeCell('validation_error')} or ${codeCell('payload_too_large')}`,
    source: 'routes/batches.ts',
    proofs: {
      'integration/jobs/batches.test.ts': [
        'are rejected with more than 1,000',
        'are rejected if they are too large, as a whole or in one line',
      ],
    },
  },
  {
    bound: 'Calls that wait for an asynchronous render',
    whole: 'none',
    share: `account: ${MAX_LONG_POLLS}`,
    answer: 'the status at once',
    source: 'routes/async-renders.ts',
    proofs: {
      'integration/jobs/async-renders.test.ts': [
        'answers at once when 32 calls of the account wait, and still renders',
      ],
    },
  },
  {
    bound: 'Bytes of running asynchronous renders',
    whole: `${inverse(JOBS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${A_QUARTER}`,
    answer: 'the render waits',
    source: 'jobs/create-jobs.ts',
    proofs: {
      'integration/jobs/memory.test.ts': ['leave memory for a synchronous call of their account'],
    },
  },
  {
    bound: 'Bytes of downloads of asynchronous renders',
    whole: `${inverse(DOWNLOADS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${inverse(OF_ONE_ACCOUNT)} of that`,
    answer: codeCell('unavailable'),
    source: 'routes/async-download.ts',
    proofs: {
      'integration/jobs/downloads.test.ts': [
        'leave memory for other accounts when slow clients use the share of one',
      ],
    },
  },
];

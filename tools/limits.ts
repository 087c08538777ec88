// docs/limits.md: what all callers of one API process share, the share of each, and what the caller gets beyond it. Made from the constants.
import type { z } from 'zod';
import { REQUESTS_BEYOND_PLAN } from '../api/accounts/account-requests.ts';
import { SharedBound } from '../api/accounts/shared-bound.ts';
import { apiVariables } from '../api/config.ts';
import { EVENTS_BUDGET_BYTES } from '../api/console/billing/events.ts';
import { OF_ONE_ACCOUNT } from '../api/console/downloads/account-shares.ts';
import { LINKS_SHARE } from '../api/console/downloads/link.ts';
import { MAX_CHANGES } from '../api/console/kit/change-bound.ts';
import { ANSWERS_SHARE } from '../api/console/mcp/mcp.ts';
import { AT_ONCE, MAX_WAITING as MAX_PASSWORDS_WAITING } from '../api/console/security/passwords.ts';
import { BODY_TIMES, HELD_PER_BODY_BYTE } from '../api/http/body.ts';
import { MAX_CONNECTIONS } from '../api/http/server.ts';
import { OPEN_FOR_EACH_PLACE } from '../api/leases/trial-admission.ts';
import { MAX_WAITING as MAX_PDFS_WAITING } from '../api/pdf/watermark/watermark-pool.ts';
import { TRIAL_SHARE } from '../api/routes/trial.ts';
import { variableMeta } from '../common/config.ts';
import { STATUS } from '../common/contract/errors.ts';

/** A test. */
export interface Proof {
  /** Below `test/`. */
  file: string;
  title: string;
}

export interface LimitRow {
  bound: string;
  whole: string;
  share: string;
  /** What the caller gets. */
  answer: string;
  /** Where it is held, below `api/`. */
  source: string;
  /** Tests that reach the bound. */
  proofs: Proof[];
}

const number = (value: number) => value.toLocaleString('en-US');
const mib = (bytes: number) => `${number(bytes / 2 ** 20)} MiB`;
const seconds = (ms: number) => `${ms / 1_000} s`;
const quarter = (max: number, show = number) =>
  `${show(new SharedBound(max).share)}; more while as much stays free (at most ${show(new SharedBound(max).maxOfOne)})`;
const A_QUARTER = 'a quarter; more while a quarter stays free';

const variable = (name: keyof typeof apiVariables.shape) =>
  `\`${name}\` (${variableMeta(apiVariables.shape[name] as z.ZodType)!.fallback})`;
const inverse = (share: number) => `1/${1 / share}`;
const code = (name: keyof typeof STATUS) => `\`${STATUS[name]} ${name}\``;
const failed = (reason: string) => `\`${STATUS.render_failed} render_failed\` (\`${reason}\`)`;
const wholeAndShare = (whole: string, share = code('concurrency_limit')) => `whole: ${whole}; share: ${share}`;

export const limitRows = (): LimitRow[] => [
  {
    bound: `Bytes of bodies (each counts ${HELD_PER_BODY_BYTE} times) and PDFs`,
    whole: variable('PRESSROOM_BYTES_IN_FLIGHT'),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('overloaded')),
    source: 'api.ts',
    proofs: [
      {
        file: 'integration/http-body-shares.test.ts',
        title: 'leaves a quarter of the whole to other accounts, and the account is refused as over its limit',
      },
      { file: 'integration/http-body.test.ts', title: 'is refused before it is read when the process holds too much already' },
      { file: 'integration/shares-slow-bodies.test.ts', title: 'leaves all renders of another account their memory, and is refused' },
    ],
  },
  {
    bound: 'The same of trial calls',
    whole: `${inverse(TRIAL_SHARE)} of it`,
    share: `address: ${A_QUARTER}`,
    answer: code('rate_limited'),
    source: 'routes/trial.ts',
    proofs: [
      { file: 'integration/trial-memory.test.ts', title: 'gives a quarter of it to trial calls, and the rest stays for customers' },
      { file: 'integration/trial-memory.test.ts', title: 'leaves a part of that quarter to other visitors when one sends slowly' },
    ],
  },
  {
    bound: 'Time of a body',
    whole: seconds(BODY_TIMES.totalMs),
    share: `body: ${number(BODY_TIMES.slow.bytesPerS)} bytes/s after ${seconds(BODY_TIMES.slow.graceMs)}, no pause of ${seconds(BODY_TIMES.silentMs)}`,
    answer: code('validation_error'),
    source: 'http/body.ts',
    proofs: [
      { file: 'integration/http-body-shares.test.ts', title: 'is given up after its first seconds, though it is never silent' },
      { file: 'integration/http-body.test.ts', title: 'is given up when nothing comes' },
      { file: 'integration/http-body.test.ts', title: 'is given up when it takes too long, though something comes all the time' },
    ],
  },
  {
    bound: 'Requests, counted before their bodies are read',
    whole: 'none',
    share: `account: the plan’s parallel renders and ${REQUESTS_BEYOND_PLAN} more`,
    answer: code('concurrency_limit'),
    source: 'accounts/account-requests.ts',
    proofs: [
      {
        file: 'integration/account-requests.test.ts',
        title: 'are those of the plan and eight more; the next is refused before its body is read',
      },
      {
        file: 'integration/mcp-failures.test.ts',
        title: 'refuses more requests of the account than its plan allows and eight, before their bodies are read',
      },
      {
        file: 'integration/console-playground-failures.test.ts',
        title: 'refuses more requests of the account than its plan allows and eight, before their bodies are read',
      },
    ],
  },
  {
    bound: 'Trial calls at once',
    whole: `${OPEN_FOR_EACH_PLACE} for each of ${variable('PRESSROOM_TRIAL_PARALLEL')}`,
    share: `address: ${variable('PRESSROOM_TRIAL_PER_MINUTE')}`,
    answer: code('rate_limited'),
    source: 'leases/trial-admission.ts',
    proofs: [
      { file: 'unit/api/leases/trial-admission.test.ts', title: 'has no more than 16 calls at once for each entry, from whomever' },
      { file: 'unit/api/leases/trial-admission.test.ts', title: 'has no more calls of one visitor at once than he has in a minute' },
    ],
  },
  {
    bound: 'Connections',
    whole: number(MAX_CONNECTIONS),
    share: `address (IPv6: /64), unless it is a trusted proxy: ${quarter(MAX_CONNECTIONS)}`,
    answer: 'the connection is closed',
    source: 'http/server.ts',
    proofs: [{ file: 'integration/http-connections.test.ts', title: 'leave a quarter of all to other addresses; one more is closed' }],
  },
  {
    bound: 'Renders that wait for a slot',
    whole: variable('PRESSROOM_QUEUE_MAX_RENDERS'),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('queue_full')),
    source: 'queue/fair-queue.ts',
    proofs: [
      { file: 'unit/api/queue/fair-queue.test.ts', title: 'leaves a quarter of its length to other accounts when one has filled the rest' },
      { file: 'unit/api/queue/dispatcher-claims.test.ts', title: 'refuses an account that has its share of the queue as over its limit' },
      { file: 'fault/overload-queue.test.ts', title: 'answers whoever comes after PRESSROOM_QUEUE_MAX_RENDERS at once, with Retry-After' },
    ],
  },
  {
    bound: 'Bytes of bodies that wait for a slot',
    whole: variable('PRESSROOM_QUEUE_MAX_BYTES'),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('queue_full')),
    source: 'queue/fair-queue.ts',
    proofs: [
      {
        file: 'fault/overload-queue.test.ts',
        title: 'refuses an account that holds its share of the bytes as over its limit, and lets another wait',
      },
      {
        file: 'fault/overload-queue.test.ts',
        title: 'answers whose body is more than PRESSROOM_QUEUE_MAX_BYTES has left at once, and lets smaller ones wait',
      },
    ],
  },
  {
    bound: 'Threads that draw watermarks',
    whole: 'cores less one, at least 2',
    share: `account: ${A_QUARTER}; never all; accounts take turns`,
    answer: 'the PDF waits',
    source: 'pdf/watermark/watermark-pool.ts',
    proofs: [
      { file: 'unit/api/pdf/watermark/watermark-pool.test.ts', title: 'stamp for another account while one has PDFs that take long' },
      { file: 'unit/api/pdf/watermark/watermark-pool.test.ts', title: 'serve accounts in turns' },
    ],
  },
  {
    bound: 'PDFs that wait for a thread',
    whole: number(MAX_PDFS_WAITING),
    share: `account: ${A_QUARTER}`,
    answer: wholeAndShare(failed('overloaded')),
    source: 'pdf/watermark/watermark-pool.ts',
    proofs: [
      { file: 'unit/api/pdf/watermark/watermark-pool.test.ts', title: 'refuse as overloaded when too many wait' },
      {
        file: 'unit/api/pdf/watermark/watermark-pool.test.ts',
        title: 'refuse an account that has its share of the line, and take another',
      },
    ],
  },
  {
    bound: 'Password hashes, in two lines: of known people, and of strangers',
    whole: `${AT_ONCE} at once, ${MAX_PASSWORDS_WAITING} waiting`,
    share: `person, or address of a stranger: ${quarter(AT_ONCE + MAX_PASSWORDS_WAITING)}`,
    answer: code('rate_limited'),
    source: 'console/security/passwords.ts',
    proofs: [
      {
        file: 'unit/api/console/security/passwords.test.ts',
        title: 'wait in a line that has an end, where the answer says when to come again',
      },
      { file: 'unit/api/console/security/passwords.test.ts', title: 'of one address leave room in the line for those of others' },
    ],
  },
  {
    bound: 'Changes in the dashboard',
    whole: 'none',
    share: `person: ${MAX_CHANGES} a minute`,
    answer: code('rate_limited'),
    source: 'console/kit/change-bound.ts',
    proofs: [
      {
        file: 'integration/console-attacks-floods.test.ts',
        title: 'does not fill the audit log: 300 changes a minute are one person’s share, and another one has theirs',
      },
    ],
  },
  {
    bound: 'Bytes of downloads by link',
    whole: `${inverse(LINKS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${inverse(OF_ONE_ACCOUNT)} of that`,
    answer: code('unavailable'),
    source: 'console/downloads/link.ts',
    proofs: [
      { file: 'integration/mcp-links.test.ts', title: 'of one account leaves entries for those of others, however many read it slowly' },
    ],
  },
  {
    bound: 'Bytes of PDFs within MCP answers',
    whole: `${inverse(ANSWERS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${inverse(OF_ONE_ACCOUNT)} of that`,
    answer: 'the answer has the link alone',
    source: 'console/mcp/mcp.ts',
    proofs: [
      {
        file: 'integration/mcp-attacks.test.ts',
        title: 'holds little of the memory for renders by answers that it does not read, and others read theirs',
      },
    ],
  },
  {
    bound: 'PDFs stored for links (in MongoDB)',
    whole: 'none',
    share: `account: ${variable('PRESSROOM_MCP_LINK_BYTES')}`,
    answer: code('rate_limited'),
    source: 'console/downloads/pdf-store.ts',
    proofs: [
      {
        file: 'integration/mcp-links.test.ts',
        title: 'is not made for an account that keeps as much as it may, before anything is rendered',
      },
    ],
  },
  {
    bound: 'Bytes of events from Stripe',
    whole: mib(EVENTS_BUDGET_BYTES),
    share: `address: ${quarter(EVENTS_BUDGET_BYTES, mib)}`,
    answer: code('unavailable'),
    source: 'console/billing/events.ts',
    proofs: [{ file: 'integration/billing-events-share.test.ts', title: 'leave a quarter of their memory to other addresses' }],
  },
];

const HEAD = `# Limits that callers share

Generated by \`npm run generate\`; do not edit. Each row holds in one API process. An account counts with all its keys, members and apps; where there is no
account, an address counts (IPv6: its /64). A caller takes up to its share while anything is left, and more only while as much stays free for the others:
so one caller alone never uses up what all share. A \`429\` does not count against the service's objective; a \`502\` does.

| bound | whole | share of one caller | what the caller gets |
| --- | --- | --- | --- |
`;

export const limitsDocument = (): string =>
  `${HEAD}${limitRows()
    .map(({ bound, whole, share, answer }) => `| ${bound} | ${whole} | ${share} | ${answer} |`)
    .join('\n')}\n`;

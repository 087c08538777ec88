// The shared limits of the dashboard, MCP and Stripe webhooks.
import { EVENTS_BUDGET_BYTES } from '../../api/console/billing/events.ts';
import { LINKS_SHARE } from '../../api/console/downloads/link.ts';
import { MAX_CHANGES } from '../../api/console/kit/change-bound.ts';
import { RESULTS_SHARE } from '../../api/console/mcp/mcp.ts';
import {
  AT_ONCE,
  MAX_WAITING_HASHES as MAX_PASSWORDS_WAITING,
} from '../../api/console/security/passwords.ts';
import { OF_ONE_ACCOUNT } from '../../api/http/account-shares.ts';
import { codeCell, inverse, type LimitRow, mib, quarter, variable } from './limit-row.ts';

export const CONSOLE_LIMITS: LimitRow[] = [
  {
    bound: 'Password hashes (separate queues for known users and unknown callers)',
    whole: `${AT_ONCE} running, ${MAX_PASSWORDS_WAITING} queued`,
    share: `user, or address of an unknown caller: ${quarter(AT_ONCE + MAX_PASSWORDS_WAITING)}`,
    answer: codeCell('rate_limited'),
    source: 'console/security/passwords.ts',
    proofs: {
      'unit/api/console/security/passwords.test.ts': [
        'rejects beyond the limit of the queue, with Retry-After',
        'limits each address to its fair share of the queue',
      ],
    },
  },
  {
    bound: 'Changes in the dashboard',
    whole: 'none',
    share: `user: ${MAX_CHANGES} per minute`,
    answer: codeCell('rate_limited'),
    source: 'console/kit/change-bound.ts',
    proofs: {
      'integration/console/attacks-floods.test.ts': [
        'is limited to 300 changes per minute for each user',
      ],
    },
  },
  {
    bound: 'Bytes of downloads by link',
    whole: `${inverse(LINKS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${inverse(OF_ONE_ACCOUNT)} of that`,
    answer: codeCell('unavailable'),
    source: 'console/downloads/link.ts',
    proofs: {
      'integration/mcp/links.test.ts': [
        'leaves memory for other accounts when slow clients use the share of one',
      ],
    },
  },
  {
    bound: 'Bytes of PDFs in MCP results',
    whole: `${inverse(RESULTS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${inverse(OF_ONE_ACCOUNT)} of that`,
    answer: 'the result contains only the link',
    source: 'console/mcp/mcp.ts',
    proofs: {
      'integration/mcp/attacks.test.ts': [
        'holds a bounded share of the byte budget with unread results, and does not block other accounts',
      ],
    },
  },
  {
    bound: 'PDFs stored for links (in MongoDB)',
    whole: 'none',
    share: `account: ${variable('PRESSROOM_MCP_LINK_BYTES')}`,
    answer: codeCell('rate_limited'),
    source: 'console/downloads/pdf-store.ts',
    proofs: {
      'integration/mcp/links.test.ts': [
        'is rejected before the render when the account has reached its storage limit',
      ],
    },
  },
  {
    bound: 'Bytes of Stripe webhooks',
    whole: mib(EVENTS_BUDGET_BYTES),
    share: `address: ${quarter(EVENTS_BUDGET_BYTES, mib)}`,
    answer: codeCell('unavailable'),
    source: 'console/billing/events.ts',
    proofs: {
      'integration/billing/events-share.test.ts': [
        'keeps a quarter of its memory for other addresses',
      ],
    },
  },
];

// The limits of the dashboard, of MCP and of events from Stripe.
import { EVENTS_BUDGET_BYTES } from '../../api/console/billing/events.ts';
import { OF_ONE_ACCOUNT } from '../../api/console/downloads/account-shares.ts';
import { LINKS_SHARE } from '../../api/console/downloads/link.ts';
import { MAX_CHANGES } from '../../api/console/kit/change-bound.ts';
import { RESULTS_SHARE } from '../../api/console/mcp/mcp.ts';
import {
  AT_ONCE,
  MAX_WAITING_HASHES as MAX_PASSWORDS_WAITING,
} from '../../api/console/security/passwords.ts';
import { codeCell, inverse, type LimitRow, mib, quarter, variable } from './limit-row.ts';

export const CONSOLE_LIMITS: LimitRow[] = [
  {
    bound: 'Password hashes, in two lines: of known people, and of strangers',
    whole: `${AT_ONCE} at once, ${MAX_PASSWORDS_WAITING} waiting`,
    share: `person, or address of a stranger: ${quarter(AT_ONCE + MAX_PASSWORDS_WAITING)}`,
    answer: codeCell('rate_limited'),
    source: 'console/security/passwords.ts',
    proofs: [
      {
        file: 'unit/api/console/security/passwords.test.ts',
        title: 'wait in a line that has an end, where the answer says when to come again',
      },
      {
        file: 'unit/api/console/security/passwords.test.ts',
        title: 'of one address leave room in the line for those of others',
      },
    ],
  },
  {
    bound: 'Changes in the dashboard',
    whole: 'none',
    share: `person: ${MAX_CHANGES} a minute`,
    answer: codeCell('rate_limited'),
    source: 'console/kit/change-bound.ts',
    proofs: [
      {
        file: 'integration/console/attacks-floods.test.ts',
        title:
          'does not fill the audit log: 300 changes a minute are one person’s share, and another one has theirs',
      },
    ],
  },
  {
    bound: 'Bytes of downloads by link',
    whole: `${inverse(LINKS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${inverse(OF_ONE_ACCOUNT)} of that`,
    answer: codeCell('unavailable'),
    source: 'console/downloads/link.ts',
    proofs: [
      {
        file: 'integration/mcp/links.test.ts',
        title: 'of one account leaves places for those of others, however many read it slowly',
      },
    ],
  },
  {
    bound: 'Bytes of PDFs within MCP answers',
    whole: `${inverse(RESULTS_SHARE)} of \`PRESSROOM_BYTES_IN_FLIGHT\``,
    share: `account: ${inverse(OF_ONE_ACCOUNT)} of that`,
    answer: 'the answer has the link alone',
    source: 'console/mcp/mcp.ts',
    proofs: [
      {
        file: 'integration/mcp/attacks.test.ts',
        title:
          'holds little of the memory for renders by answers that it does not read, and others read theirs',
      },
    ],
  },
  {
    bound: 'PDFs stored for links (in MongoDB)',
    whole: 'none',
    share: `account: ${variable('PRESSROOM_MCP_LINK_BYTES')}`,
    answer: codeCell('rate_limited'),
    source: 'console/downloads/pdf-store.ts',
    proofs: [
      {
        file: 'integration/mcp/links.test.ts',
        title:
          'is not made for an account that keeps as much as it may, before anything is rendered',
      },
    ],
  },
  {
    bound: 'Bytes of events from Stripe',
    whole: mib(EVENTS_BUDGET_BYTES),
    share: `address: ${quarter(EVENTS_BUDGET_BYTES, mib)}`,
    answer: codeCell('unavailable'),
    source: 'console/billing/events.ts',
    proofs: [
      {
        file: 'integration/billing/events-share.test.ts',
        title: 'leave a quarter of their memory to other addresses',
      },
    ],
  },
];

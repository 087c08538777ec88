// The routes for billing: plan and status of an account, and links to the payment provider's pages.
import type { Billing } from '../billing/billing.ts';
import { billing as answer, checkout, redirect } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import type { Audit } from '../security/audit.ts';

export const billingRoutes = ({
  billing,
  audit,
}: {
  billing: Billing;
  audit: Audit;
}): ConsoleRoute[] => [
  route({
    method: 'get',
    path: '/accounts/:account/billing',
    id: 'billing',
    summary: 'Retrieve the plan, the billing status and the available plans.',
    access: { permission: 'billing.read' },
    answer,
    handle: ({ account }) => billing.show(account.id),
  }),
  route({
    method: 'post',
    path: '/accounts/:account/billing/checkout',
    id: 'checkout',
    summary:
      'Create a link to a page of the payment provider, to subscribe to a plan or to confirm a change.',
    access: { permission: 'billing.write' },
    body: checkout,
    answer: redirect,
    handle: async call => {
      const { plan } = call.body;
      const page = await billing.checkout(call.account.id, plan, call.signedIn.user.email);
      await audit.record(call, { action: 'billing.checkout_opened', target: plan });
      return page;
    },
  }),
  route({
    method: 'post',
    path: '/accounts/:account/billing/portal',
    id: 'billingPortal',
    summary: 'Create a link to the page of the payment provider for invoices and payment methods.',
    access: { permission: 'billing.write' },
    answer: redirect,
    handle: async call => {
      const page = await billing.portal(call.account.id);
      await audit.record(call, { action: 'billing.portal_opened' });
      return page;
    },
  }),
];

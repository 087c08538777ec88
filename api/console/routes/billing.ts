// Plan and billing of an account: what stands, and the ways to the payment provider's pages.
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
    summary: 'Plan, state, and the plans that can be had',
    access: { permission: 'billing.read' },
    answer,
    handle: ({ account }) => billing.show(account.id),
  }),
  route({
    method: 'post',
    path: '/accounts/:account/billing/checkout',
    id: 'checkout',
    summary:
      'A page of the payment provider on which a plan is bought, or the change to it confirmed',
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
    summary: 'The page of the payment provider with invoices and means of payment',
    access: { permission: 'billing.write' },
    answer: redirect,
    handle: async call => {
      const page = await billing.portal(call.account.id);
      await audit.record(call, { action: 'billing.portal_opened' });
      return page;
    },
  }),
];

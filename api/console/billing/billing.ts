// The port of billing: who sets an account's plan and state. One of three modes: nobody (all is
// active), the operator, or Stripe.
import type { z } from 'zod';
import type { BillingMode } from '../../accounts/plans.ts';
import type { billing } from '../contract/accounts.ts';

export interface Billing {
  readonly mode: BillingMode;
  /** What the page shows. Throws ApiError `not_found` for an unknown account. */
  show(accountId: string): Promise<z.input<typeof billing>>;
  /**
   * Where the person pays for `plan`, or confirms the change to it; the way back leads to the
   * dashboard. Throws ApiError `conflict` where this mode has no such page or the account can not
   * go there now, `validation_error` for a plan that is not sold, `unavailable` when the provider
   * does not answer.
   */
  checkout(accountId: string, plan: string, email: string): Promise<{ url: string }>;
  /** Where the person sees invoices and changes the means of payment. Throws as `checkout` does. */
  portal(accountId: string): Promise<{ url: string }>;
}

// The port of billing. The mode decides what sets an account's plan and state: `none` (every
// account is active), `manual` (the operator) or `stripe`.
import type { z } from 'zod';
import type { BillingMode } from '../../accounts/plans.ts';
import type { billing } from '../contract/accounts.ts';

export interface Billing {
  readonly mode: BillingMode;
  /** The overview on the billing page. Throws ApiError `not_found` for an unknown account. */
  show(accountId: string): Promise<z.input<typeof billing>>;
  /**
   * The page on which the person pays for `plan` or confirms the change to it; it leads back to the
   * dashboard. Throws ApiError `conflict` where the mode has no such page or the account cannot use
   * it now, `validation_error` for a plan that is not for sale, `unavailable` when the provider
   * does not respond.
   */
  checkout(accountId: string, plan: string, email: string): Promise<{ url: string }>;
  /** The page with invoices and payment methods. Throws as `checkout` does. */
  portal(accountId: string): Promise<{ url: string }>;
}

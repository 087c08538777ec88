// Wires billing in the mode that is configured, with what runs beside it and the path that the
// payment provider calls.
import type { Network } from '../../../common/addresses.ts';
import type { Service } from '../../../common/lifecycle.ts';
import type { Log } from '../../../common/log.ts';
import type { BillingMode, Plan } from '../../accounts/plans.ts';
import type { Route } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import type { Audit } from '../security/audit.ts';
import type { Billing } from './billing.ts';
import { paymentEvents } from './events.ts';
import { loadedLater } from './payments.ts';
import { createPriceList } from './price-list.ts';
import type { Prices } from './prices.ts';
import { createResync } from './resync.ts';
import { stripeBilling } from './stripe-billing.ts';
import { createSync } from './sync.ts';
import { billingWithoutPayments } from './without-payments.ts';

export interface BillingConfig {
  mode: BillingMode;
  /** In the mode `stripe` with both secrets. */
  stripe: {
    secretKey: string | undefined;
    webhookSecret: string | undefined;
    prices: Prices;
    apiUrl: string;
  };
}

interface BillingDeps {
  config: BillingConfig;
  plans: readonly Plan[];
  pastDueGraceMs: number;
  publicUrl: string;
  trustedProxies: readonly Network[];
  store: Store;
  audit: Audit;
  log: Log;
}

export const WEBHOOK_PATH = '/console/stripe/webhook';

export function createBilling({
  config,
  plans,
  pastDueGraceMs,
  publicUrl,
  trustedProxies,
  store,
  audit,
  log,
}: BillingDeps): {
  billing: Billing;
  routes: Route[];
  services: Service[];
} {
  const { mode, stripe } = config;
  const of = { plans, pastDueGraceMs };
  if (mode !== 'stripe')
    return { billing: billingWithoutPayments(store, { ...of, mode }), routes: [], services: [] };
  const { secretKey, webhookSecret, apiUrl, prices } = stripe;
  const access = { secretKey: secretKey!, webhookSecret: webhookSecret!, apiUrl };
  const payments = loadedLater(async () =>
    (await import('./stripe.ts')).stripePayments(access, log),
  );
  const sync = createSync({ store, payments, prices, audit, log });
  const priceList = createPriceList({ payments, prices, log });
  return {
    billing: stripeBilling({
      store,
      payments,
      prices,
      priceList,
      sync,
      backUrl: `${publicUrl}/app/billing`,
      of,
      log,
    }),
    routes: [
      {
        method: 'post',
        path: WEBHOOK_PATH,
        handle: paymentEvents({ payments, sync, store, trustedProxies, log }),
      },
    ],
    services: [createResync({ store, sync, log })],
  };
}

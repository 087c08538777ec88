// Wires billing in the configured mode, with its background service and its webhook.
import type { Network } from '../../../common/addresses.ts';
import type { Service } from '../../../common/lifecycle.ts';
import type { Log } from '../../../common/log.ts';
import type { BillingMode, Plan } from '../../accounts/plans.ts';
import type { Route } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import type { Audit } from '../security/audit.ts';
import type { Billing } from './billing.ts';
import { paymentEvents } from './events.ts';
import { lazyPayments } from './payments.ts';
import { createPriceList } from './price-list.ts';
import type { Prices } from './prices.ts';
import { createResync } from './resync.ts';
import { StripeBilling } from './stripe-billing.ts';
import { createSync } from './sync.ts';
import { billingWithoutPayments } from './without-payments.ts';

export interface BillingConfig {
  mode: BillingMode;
  /** The mode `stripe` has both secrets. */
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
  const overview = { plans, pastDueGraceMs };
  if (mode !== 'stripe')
    return {
      billing: billingWithoutPayments(store, { ...overview, mode }),
      routes: [],
      services: [],
    };
  const { secretKey, webhookSecret, apiUrl, prices } = stripe;
  const access = { secretKey: secretKey!, webhookSecret: webhookSecret!, apiUrl };
  const payments = lazyPayments(async () => {
    const { StripePayments } = await import('./stripe.ts');
    return new StripePayments(access, log);
  });
  const sync = createSync({ store, payments, prices, audit, log });
  const priceList = createPriceList({ payments, prices, log });
  return {
    billing: new StripeBilling({
      store,
      payments,
      prices,
      priceList,
      sync,
      backUrl: `${publicUrl}/app/billing`,
      overview,
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

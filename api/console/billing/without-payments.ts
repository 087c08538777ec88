// Billing without a payment provider: every account is active (`none`), or the operator sets plan
// and state (`manual`).
import { ApiError } from '../../../common/contract/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Billing } from './billing.ts';
import { billedAccount, billingOverview, type OverviewOptions } from './overview.ts';

const MESSAGES = {
  none: 'Billing is turned off on this installation. Every account is active.',
  manual: 'Your administrator manages this plan. Contact them to change it.',
};

export function billingWithoutPayments(
  store: Store,
  options: OverviewOptions & { mode: 'none' | 'manual' },
): Billing {
  const notAvailable = async () => {
    throw new ApiError('conflict', MESSAGES[options.mode]);
  };
  return {
    mode: options.mode,
    show: async accountId => billingOverview(await billedAccount(store, accountId), options),
    checkout: notAvailable,
    portal: notAvailable,
  };
}

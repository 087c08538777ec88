// Billing without a payment provider: the modes in which nobody pays here, because all is active or
// because the operator sets plan and state.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Billing } from './billing.ts';
import { billedAccount, billingOverview, type OverviewOf } from './overview.ts';

const MESSAGES = {
  none: 'Nothing is paid for on this installation: every account is served.',
  manual: 'Plans are set by who runs this installation. Ask them for another.',
};

export function billingWithoutPayments(
  store: Store,
  of: OverviewOf & { mode: 'none' | 'manual' },
): Billing {
  const refuse = async () => {
    throw new ApiError('conflict', MESSAGES[of.mode]);
  };
  return {
    mode: of.mode,
    show: async accountId => billingOverview(await billedAccount(store, accountId), of),
    checkout: refuse,
    portal: refuse,
  };
}

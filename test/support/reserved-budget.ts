// Reserves bytes of a budget for several accounts, none of which exceeds its fair share.
import { accountHolder, type ByteBudget } from '../../api/http/byte-budget.ts';

const HOLDERS = 4;

/** Reserves `bytes`. Returns a function that releases them. */
export function reserveForOthers(budget: ByteBudget, bytes: number): () => void {
  const reservations = Array.from({ length: HOLDERS }, (_, index) =>
    budget.open(accountHolder(`another account ${index}`)),
  );
  for (const [index, reservation] of reservations.entries()) {
    const part = Math.floor(bytes / HOLDERS) + (index < bytes % HOLDERS ? 1 : 0);
    if (!reservation.reserve(part))
      throw new Error(`the budget of ${budget.maxBytes} bytes cannot reserve ${bytes} bytes`);
  }
  return () => {
    for (const { close } of reservations) close();
  };
}

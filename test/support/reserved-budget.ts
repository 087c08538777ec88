// A budget of bytes in use: held by several accounts, none of them above its share.
import { accountHolder, type ByteBudget } from '../../api/http/byte-budget.ts';

const HOLDERS = 4;

/** Takes so many bytes; returns what gives them back. */
export function reserveForOthers(budget: ByteBudget, bytes: number): () => void {
  const reservations = Array.from({ length: HOLDERS }, (_, index) =>
    budget.open(accountHolder(`another account ${index}`)),
  );
  for (const [index, reservation] of reservations.entries()) {
    const part = Math.floor(bytes / HOLDERS) + (index < bytes % HOLDERS ? 1 : 0);
    if (!reservation.take(part))
      throw new Error(`the budget of ${budget.maxBytes} bytes has no room for ${bytes}`);
  }
  return () => {
    for (const { close } of reservations) close();
  };
}

// Schemas that several requests and responses of the management API share.
import { z } from 'zod';

export const id = z.string().meta({ description: 'An ID.' });
/** ISO 8601, UTC. */
export const time = z.iso
  .datetime({ error: 'a time in UTC such as 2027-01-31T00:00:00Z' })
  .meta({ description: 'A time in UTC.' });
export const count = z.int().nonnegative();

/** A display name without control characters, which could forge a line of a log or a mail. */
export const nameText = (max = 100) =>
  z
    .string({ error: 'a string' })
    .trim()
    .min(1, 'at least 1 character')
    .max(max, `at most ${max} characters`)
    .regex(/^\P{C}*$/u, 'text without control characters');

/** The limit of SMTP (RFC 5321, erratum 1690). */
export const MAX_EMAIL = 254;

export const emailText = z
  .string({ error: 'an email address' })
  .trim()
  // Before lowercasing, which turns the Kelvin sign into a `k` and so into another user's address.
  .regex(/^\p{ASCII}*$/u, 'an email address such as ada@example.com')
  .toLowerCase()
  .max(MAX_EMAIL, `at most ${MAX_EMAIL} characters`)
  .pipe(z.email('an email address such as ada@example.com'));

/** A page of a list, newest first. `next` is the cursor of the next page; null on the last. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

export const cursorQuery = {
  cursor: z.string().max(200).optional().meta({ description: 'The `next` of the previous page.' }),
  limit: z.coerce.number().int().min(1).max(100).default(50),
};

/** The beginning of a name or an email address, or a complete id. */
export const searchText = z
  .string()
  .trim()
  .max(100, 'at most 100 characters')
  .regex(/^\P{C}*$/u, 'text without control characters');

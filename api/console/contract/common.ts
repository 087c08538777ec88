// What several answers and bodies of the management API are made of.
import { z } from 'zod';

export const id = z.string().meta({ description: 'An id.' });
/** ISO 8601, UTC. */
export const time = z.iso
  .datetime({ error: 'a time in UTC such as 2027-01-31T00:00:00Z' })
  .meta({ description: 'A time in UTC.' });
export const count = z.int().nonnegative();

/** What people call things: no control characters, which could forge a line of a log or a mail. */
export const nameText = (max = 100) =>
  z
    .string({ error: 'a text' })
    .trim()
    .min(1, 'a text that is not blank')
    .max(max, `at most ${max} characters`)
    .regex(/^\P{C}*$/u, 'a text without control characters');

/** What SMTP can carry (RFC 5321, erratum 1690). */
export const MAX_EMAIL = 254;

export const emailText = z
  .string({ error: 'an email address' })
  .trim()
  // Before the letters are made small: the Kelvin sign would become a `k`, and its address somebody
  // else's.
  .regex(/^\p{ASCII}*$/u, 'an email address such as ada@example.com')
  .toLowerCase()
  .max(MAX_EMAIL, `at most ${MAX_EMAIL} characters`)
  .pipe(z.email('an email address such as ada@example.com'));

/** A page of a list, newest first; `next` is the cursor of the following page, null on the last. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

export const cursorQuery = {
  cursor: z.string().max(200).optional().meta({ description: 'The `next` of the page before.' }),
  limit: z.coerce.number().int().min(1).max(100).default(50),
};

/** The beginning of a name or an address, or a whole id. */
export const searchText = z
  .string()
  .trim()
  .max(100, 'at most 100 characters')
  .regex(/^\P{C}*$/u, 'a text without control characters');

// At the start: the administrator whom the configuration names, or a link for whoever sets up an installation without anybody.
import { ApiError } from '../../contract/errors.ts';
import type { FirstAdmin } from './admin-config.ts';
import { WAITING_ACCOUNT } from './first-owner.ts';
import type { People } from './people.ts';

/** Whether the error says that another process of the installation, which started at the same moment, was quicker. */
const wasTaken = (error: unknown) => error instanceof ApiError && (error.code === 'conflict' || error.code === 'validation_error');

/** Without any account there would be nothing to look at. */
async function ownFirstAccount({ firstOwner }: People, userId: string): Promise<void> {
  if (!(await firstOwner.waiting()) && !(await firstOwner.hasAccounts()))
    await firstOwner.ownNew(WAITING_ACCOUNT, userId).catch(error => {
      if (!wasTaken(error)) throw error;
    });
  const waiting = await firstOwner.waiting();
  if (waiting) await firstOwner.own(waiting, userId);
}

/** Makes the person of the configuration when nobody has that address. Whoever has it is left as they are. True when it was made. */
export async function makeAdmin(people: People, { email, password }: FirstAdmin): Promise<boolean> {
  const { users, audit } = people;
  if (await users.byEmail(email)) return false;
  try {
    const user = await users.create({ email, password, name: email.split('@')[0]!, operator: true });
    await ownFirstAccount(people, user._id);
    await audit.note({ actor: 'configuration' }, { action: 'operator.created', target: user.email });
    return true;
  } catch (error) {
    if (wasTaken(error)) return false;
    throw error;
  }
}

/** The link, while there is nobody. */
export async function setupLink({ setup, publicUrl }: People): Promise<string | undefined> {
  return (await setup.needed()) ? `${publicUrl}/app/setup#${await setup.createToken()}` : undefined;
}

// Ends the session, here and on the server.

import { notify } from '../parts/notices.tsx';
import { endSession } from '../session/api.ts';

export async function signOut(): Promise<void> {
  try {
    await endSession();
  } catch (error) {
    notify((error as Error).message, 'error');
    return;
  }
  // What was typed into the playground, cookies and passwords of pages perhaps, is not for who
  // comes next.
  sessionStorage.clear();
  location.assign('/app/sign-in');
}

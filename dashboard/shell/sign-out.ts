// Signs out: ends the session on the server and clears it in this tab.
import { notify } from '../parts/notices.tsx';
import { endSession } from '../session/api.ts';

export async function signOut(): Promise<void> {
  try {
    await endSession();
  } catch (error) {
    notify((error as Error).message, 'error');
    return;
  }
  // The playground draft may hold cookies and passwords; the next user must not see it.
  sessionStorage.clear();
  location.assign('/app/sign-in');
}

// Freezes a process with SIGSTOP, as a paused virtual machine is frozen, and resumes it.
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.ts';

/** Resolves when every thread has stopped. Running threads stop a moment after the signal. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  const state = (task: string) =>
    readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').replace(/^.*\) /, '')[0];
  await eventually(() => {
    const running = readdirSync(`/proc/${pid}/task`).filter(task => state(task) !== 'T');
    if (running.length > 0)
      throw new Error(`${running.length} threads of process ${pid} still run`);
  });
}

export const thaw = (pid: number): void => void process.kill(pid, 'SIGCONT');

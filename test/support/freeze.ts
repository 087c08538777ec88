// Stops a process in its tracks, as a machine that swaps or a paused virtual machine does, and lets
// it go on.
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.ts';

/**
 * Resolves when every thread stands still: the signal alone lets those that run go on for a moment.
 */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  const state = (task: string) =>
    readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').replace(/^.*\) /, '')[0];
  await eventually(() => {
    const moving = readdirSync(`/proc/${pid}/task`).filter(task => state(task) !== 'T');
    if (moving.length > 0) throw new Error(`${moving.length} threads of process ${pid} still run`);
  });
}

export const thaw = (pid: number): void => void process.kill(pid, 'SIGCONT');

// Ports for processes that must restart on the same port. Below the kernel's range for outgoing
// connections, of which these tests open thousands.
import { portIsFree } from '../../../standalone/ports.ts';

const FIRST = 15_000;
const LAST = 31_000;
let next = FIRST + ((process.pid * 37) % (LAST - FIRST));

/** A port of loopback that is free now and used by no other test of this run. */
export async function ownPort(): Promise<number> {
  for (let tries = 0; tries < LAST - FIRST; tries++) {
    next = next >= LAST ? FIRST : next + 1;
    const port = next; // another call may move on meanwhile
    if (await portIsFree('127.0.0.1', port)) return port;
  }
  throw new Error(`no port from ${FIRST} to ${LAST} is free`);
}

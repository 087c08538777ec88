// Ports for processes that must restart on the same port. Below the kernel's range for outgoing
// connections, of which these tests open thousands.
import { createServer } from 'node:net';
import { listen } from '../../../common/lifecycle.ts';
import { portIsFree } from '../../../standalone/ports.ts';

const FIRST = 15_000;
const BLOCKS = 32;
const BLOCK_PORTS = 500;

/** Listens on the first port of a block until this process ends: the block is then its own. */
async function claimBlock(): Promise<number> {
  for (let block = 0; block < BLOCKS; block++) {
    const first = FIRST + block * BLOCK_PORTS;
    try {
      await listen(createServer().unref(), first, '127.0.0.1', () => {});
      return first;
    } catch {
      // Another process has this block.
    }
  }
  throw new Error(`no block of ports from ${FIRST} is free`);
}

let block: Promise<number> | undefined;
let taken = 0;

/** A port of loopback that is free now and used by no other test, also of other lanes. */
export async function ownPort(): Promise<number> {
  block ??= claimBlock();
  const first = await block;
  for (let tries = 1; tries < BLOCK_PORTS; tries++) {
    taken = (taken % (BLOCK_PORTS - 1)) + 1;
    const port = first + taken; // another call may move on meanwhile
    if (await portIsFree('127.0.0.1', port)) return port;
  }
  throw new Error(`no port from ${first} to ${first + BLOCK_PORTS} is free`);
}

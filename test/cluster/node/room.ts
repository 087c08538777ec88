// Namespaces in which one node lives: mounts, network and processes of its own. All that is made
// inside (bridges, iptables rules, mounts, containers) is gone with the first process of the room,
// which ends with the test, however that ends.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../support/eventually.ts';
import { type LeashedProcess, startLeashed } from '../kube/leashed-process.ts';

const run = promisify(execFile);
const START_MS = 60_000;
/** Gigabytes of images are put in by one of them. */
const RUN_MS = 600_000;

/**
 * A node writes these for the whole machine unless they have the value already: here it reads them
 * from files of ours.
 */
const TUNABLES = {
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
} as const;

/**
 * Folders of the machine in whose place the room has empty ones. The last is where CNI, containerd
 * and kubelet put what they do not let be put elsewhere.
 */
const OWN_FOLDERS = ['/var/log', '/var/lib'];

/**
 * Then it only collects processes whose parents have ended: containers outlive who started them.
 */
const FURNISH = `set -e
folder=$1; shift
mount --make-rshared /
mount -t tmpfs -o mode=755 room /run
for name in $1; do mount --bind "$folder/own$name" "$name"; done
for name in $2; do mount --bind "$folder/tunables/$name" "/proc/sys/$name"; done
mkdir /run/netns
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
touch "$folder/furnished"
while :; do sleep 3600 & wait; done
`;

export interface Room {
  /** The addresses of the wire between machine and room; each is reached from the other side. */
  readonly machineAddress: string;
  readonly nodeAddress: string;
  /** Addresses for pods, such as `10.214.3.0/24`; the machine reaches them. */
  readonly pods: string;
  /** Starts a program inside. It ends with the room at the latest. */
  start(
    name: string,
    program: readonly [string, ...string[]],
    logFile: string,
    env?: Record<string, string>,
  ): LeashedProcess;
  /**
   * Runs a program inside to its end and gives its output; rejects with what it wrote to stderr.
   */
  run(program: string, ...args: string[]): Promise<string>;
  /** All that runs inside is gone when it resolves. */
  close(): Promise<void>;
}

/** `folder` must be empty and is filled. */
export async function openRoom(folder: string): Promise<Room> {
  for (const name of OWN_FOLDERS) await mkdir(join(folder, 'own', name), { recursive: true });
  for (const [name, value] of Object.entries(TUNABLES)) {
    const file = join(folder, 'tunables', name);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, `${value}\n`);
  }
  const namespaces = [
    'unshare',
    '--mount',
    '--net',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    '--',
  ] as const;
  const lists = [OWN_FOLDERS.join(' '), Object.keys(TUNABLES).join(' ')];
  const holder = startLeashed(
    'room',
    [...namespaces, 'sh', '-c', FURNISH, 'sh', folder, ...lists],
    join(folder, 'room.log'),
  );
  try {
    await eventually(async () => {
      if (holder.alive()) await access(join(folder, 'furnished'));
    }, START_MS);
    if (!holder.alive()) throw new Error('it ended');
    const first = Number(readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8'));
    const enter = [
      'nsenter',
      '--target',
      String(first),
      '--mount',
      '--net',
      '--pid',
      '--',
    ] as const;
    const inside = async (...args: string[]) =>
      (await run(enter[0], [...enter.slice(1), ...args], { timeout: RUN_MS })).stdout;
    const { name: wireName, ...wire } = await layWire(first, inside);
    return {
      ...wire,
      start: (name, program, logFile, env = {}) =>
        startLeashed(name, [...enter, ...program], logFile, env),
      run: inside,
      close: async () => {
        await holder.kill();
        // The kernel does it too, some time later.
        await run('ip', ['link', 'delete', wireName]).catch(() => {});
      },
    };
  } catch (error) {
    await holder.kill();
    throw new Error(`no room for a node (${(error as Error).message}):\n${holder.lastWords()}`);
  }
}

const WIRES = 250;

/**
 * A pair of interfaces with addresses that no other room of this machine has: the name of the
 * machine's end says which are taken.
 */
async function layWire(first: number, inside: (...args: string[]) => Promise<string>) {
  const ip = (...args: string[]) => run('ip', args);
  for (let number = process.pid % WIRES, tries = 1; ; number = (number + 1) % WIRES, tries++) {
    const name = `pressroom-${number}`;
    try {
      await ip(
        'link',
        'add',
        name,
        'type',
        'veth',
        'peer',
        'name',
        'machine',
        'netns',
        String(first),
      );
    } catch (error) {
      if (tries === WIRES) throw error;
      continue;
    }
    const [machineAddress, nodeAddress, pods] = [
      `10.213.${number}.1`,
      `10.213.${number}.2`,
      `10.214.${number}.0/24`,
    ];
    await ip('address', 'add', `${machineAddress}/30`, 'dev', name);
    await ip('link', 'set', name, 'up');
    await ip('route', 'add', pods, 'via', nodeAddress);
    await inside('ip', 'address', 'add', `${nodeAddress}/30`, 'dev', 'machine');
    await inside('ip', 'link', 'set', 'machine', 'up');
    await inside('ip', 'route', 'add', 'default', 'via', machineAddress);
    return { name, machineAddress, nodeAddress, pods };
  }
}

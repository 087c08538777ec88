// Runs one node in its own mount, network and process namespaces. Everything created inside
// (bridges, iptables rules, mounts, containers) ends with the first process, which ends with the
// test process.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../support/eventually.ts';
import { type LeashedProcess, startLeashed } from '../kube/leashed-process.ts';

const run = promisify(execFile);
const START_MS = 60_000;
/** Importing images takes long. */
const RUN_MS = 600_000;

/**
 * Kernel settings that kubelet sets unless they have these values. Here it reads them from files,
 * so that the settings of the machine do not change.
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
 * Folders of the machine that are empty inside. CNI, containerd and kubelet use fixed paths in
 * /var/lib.
 */
const OWN_FOLDERS = ['/var/log', '/var/lib'];

/**
 * Sets up the namespaces, and then reaps orphaned processes, because containers outlive their
 * parents.
 */
const SETUP = `set -e
folder=$1; shift
mount --make-rshared /
mount -t tmpfs -o mode=755 node /run
for name in $1; do mount --bind "$folder/own$name" "$name"; done
for name in $2; do mount --bind "$folder/tunables/$name" "/proc/sys/$name"; done
mkdir /run/netns
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
touch "$folder/ready"
while :; do sleep 3600 & wait; done
`;

export interface NodeHost {
  /** The addresses of both ends of the link between machine and node. */
  readonly machineAddress: string;
  readonly nodeAddress: string;
  /** Address range of pods, such as `10.214.3.0/24`, which the machine can reach. */
  readonly pods: string;
  /** Starts a program inside. It ends with the namespaces at the latest. */
  start(
    name: string,
    program: readonly [string, ...string[]],
    logFile: string,
    env?: Record<string, string>,
  ): LeashedProcess;
  /** Runs a program inside and returns its output. Rejects with its stderr. */
  run(program: string, ...args: string[]): Promise<string>;
  /** Resolves when all processes inside have ended. */
  close(): Promise<void>;
}

/** Starts the namespaces with their files in `folder`, which must be empty. */
export async function startNodeHost(folder: string): Promise<NodeHost> {
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
    'node-host',
    [...namespaces, 'sh', '-c', SETUP, 'sh', folder, ...lists],
    join(folder, 'node-host.log'),
  );
  try {
    await eventually(async () => {
      if (holder.alive()) await access(join(folder, 'ready'));
    }, START_MS);
    if (!holder.alive()) throw new Error('it exited');
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
    const { name: linkName, ...link } = await createLink(first, inside);
    return {
      ...link,
      start: (name, program, logFile, env = {}) =>
        startLeashed(name, [...enter, ...program], logFile, env),
      run: inside,
      close: async () => {
        await holder.kill();
        // The kernel also removes it, but later.
        await run('ip', ['link', 'delete', linkName]).catch(() => {});
      },
    };
  } catch (error) {
    await holder.kill();
    throw new Error(
      `the namespaces of a node did not start (${(error as Error).message}):\n${holder.logTail()}`,
    );
  }
}

const MAX_LINKS = 250;

/**
 * Creates a pair of interfaces with unused addresses. The name of the machine's end marks the
 * number as used.
 */
async function createLink(first: number, inside: (...args: string[]) => Promise<string>) {
  const ip = (...args: string[]) => run('ip', args);
  for (
    let number = process.pid % MAX_LINKS, tries = 1;
    ;
    number = (number + 1) % MAX_LINKS, tries++
  ) {
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
      if (tries === MAX_LINKS) throw error;
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

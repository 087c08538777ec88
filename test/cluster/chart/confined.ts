// Runs a program as a worker's container runs one: not root, no capabilities, no new privileges, a
// read-only root, namespaces of its own, and a seccomp filter.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../../standalone/run-command.ts';

const USER = 10_001;
/** What the container gets anew, in place of the machine's. */
const OWN = ['proc', 'dev', 'tmp', 'sys', 'run'];
const NAMESPACES = ['pid', 'ipc', 'uts', 'mount', 'network'];

/** The machine's own folders, to be read only. */
async function layRoot(root: string): Promise<object[]> {
  const mounts: object[] = [];
  for (const entry of await readdir('/', { withFileTypes: true })) {
    if (entry.isSymbolicLink())
      await symlink(await readlink(`/${entry.name}`), join(root, entry.name));
    else if (entry.isDirectory()) {
      await mkdir(join(root, entry.name));
      if (!OWN.includes(entry.name))
        mounts.push({
          destination: `/${entry.name}`,
          type: 'bind',
          source: `/${entry.name}`,
          options: ['rbind', 'ro'],
        });
    }
  }
  return mounts;
}

/** Runs `command` under the filter (none: unconfined) and gives all that it said. */
export async function runConfined(
  runc: string,
  command: string[],
  seccomp: object | undefined,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-confined-'));
  try {
    const [root, scratch] = [join(folder, 'root'), join(folder, 'scratch')];
    await mkdir(root);
    await mkdir(scratch);
    await chmod(scratch, 0o1777);
    const config = {
      ociVersion: '1.0.2',
      process: {
        user: { uid: USER, gid: USER },
        args: command,
        env: [`PATH=${process.env.PATH}`, 'HOME=/tmp'],
        cwd: '/',
        capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
        noNewPrivileges: true,
      },
      root: { path: root, readonly: true },
      mounts: [
        ...(await layRoot(root)),
        { destination: '/proc', type: 'proc', source: 'proc' },
        { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
        { destination: '/tmp', type: 'bind', source: scratch, options: ['rbind', 'rw'] },
      ],
      linux: { namespaces: NAMESPACES.map(type => ({ type })), ...(seccomp && { seccomp }) },
    };
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
    let said = '';
    const onOutput = (chunk: Buffer) => {
      said += chunk.toString();
    };
    const name = `pressroom-${randomUUID()}`;
    await runCommand(runc, ['--root', join(folder, 'state'), 'run', '--bundle', folder, name], {
      timeoutMs: 60_000,
      onOutput,
    });
    return said;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

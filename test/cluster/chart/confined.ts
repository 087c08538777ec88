// Runs a program in a container like that of a worker: non-root, without capabilities and new
// privileges, with a read-only root, its own namespaces and a seccomp profile.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../../standalone/run-command.ts';

const USER = 10_001;
/** Directories that the container does not share with the host. */
const OWN = ['proc', 'dev', 'tmp', 'sys', 'run'];
const NAMESPACES = ['pid', 'ipc', 'uts', 'mount', 'network'];

/** Creates a root from the directories of the host, mounted read-only. */
async function createRoot(root: string): Promise<object[]> {
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

/** Runs `command` with a seccomp profile, if any, and returns its output. */
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
        ...(await createRoot(root)),
        { destination: '/proc', type: 'proc', source: 'proc' },
        { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
        { destination: '/tmp', type: 'bind', source: scratch, options: ['rbind', 'rw'] },
      ],
      linux: { namespaces: NAMESPACES.map(type => ({ type })), ...(seccomp && { seccomp }) },
    };
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
    let output = '';
    const onOutput = (chunk: Buffer) => {
      output += chunk.toString();
    };
    const name = `pressroom-${randomUUID()}`;
    await runCommand(runc, ['--root', join(folder, 'state'), 'run', '--bundle', folder, name], {
      timeoutMs: 60_000,
      onOutput,
    });
    return output;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { runCommand } from '../../../standalone/run-command.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const sh = (script: string, options: Partial<Parameters<typeof runCommand>[2]> = {}) =>
  runCommand('/bin/sh', ['-c', script], { timeoutMs: 10_000, ...options });

describe('runCommand', () => {
  const at = temporaryFolder();

  it('returns the output', async () => {
    expect(await sh('echo one; echo two >&2')).to.deep.equal({
      ok: true,
      stdout: 'one\n',
      why: '',
    });
  });

  it('returns the last line of the error output as the cause', async () => {
    expect(await sh('echo first >&2; echo no space left >&2; exit 3')).to.include({
      ok: false,
      why: 'no space left',
    });
    expect(await sh('exit 3')).to.include({ ok: false, why: 'ended with 3' });
  });

  it('returns a result for a missing program instead of throwing', async () => {
    expect(await runCommand('/nowhere/tool', [], { timeoutMs: 1_000 })).to.deep.equal({
      ok: false,
      stdout: '',
      why: '/nowhere/tool is not installed',
    });
  });

  it('ends the program after its timeout, even if it ignores SIGTERM', async () => {
    expect(await sh('exec sleep 60', { timeoutMs: 100 })).to.include({
      ok: false,
      why: 'it did not finish within 0 s',
    });
    expect(await sh("trap '' TERM; while :; do sleep 0.1; done", { timeoutMs: 100 })).to.include({
      ok: false,
    });
  });

  it('ends the program when its folder stops growing, but not while it grows', async () => {
    await writeFile(at('before'), 'x');
    const idle = { folder: at(), ms: 700 };
    expect(await sh('exec sleep 60', { idle })).to.include({
      ok: false,
      why: 'no data arrived for 1 s',
    });
    const slow = await sh(
      `for i in 1 2 3 4 5 6 7 8; do echo more >> "${at('file')}"; sleep 0.2; done`,
      { idle },
    );
    expect(slow).to.include({ ok: true });
  });

  it('does not wait for a grandchild that holds the output open', async () => {
    const leaves = sh('sleep 2 & echo done');
    const lasts = sh('sleep 2; echo later');
    expect(await Promise.race([leaves, lasts])).to.include({ ok: true, stdout: 'done\n' });
    await lasts;
  });

  it('runs as another user when this process is root', async function () {
    if (process.getuid?.() !== 0) skip(this, 'only root may run a command as another user');
    expect(await sh('id -u', { uid: 64_117 })).to.include({ stdout: '64117\n' });
  });
});

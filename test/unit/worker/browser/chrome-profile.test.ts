import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeProfile, sweepProfiles } from '../../../../worker/browser/profile.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { errorOf } from '../../../support/worker.ts';

describe('the profile folders of Chrome', () => {
  const file = temporaryFolder();
  const { TMPDIR } = process.env;
  const useFolder = (folder: string | undefined) => {
    if (folder === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = folder;
  };
  beforeEach(() => useFolder(file()));
  afterEach(() => useFolder(TMPDIR));

  it('are removed when their worker has ended, even if its process id is reused', async () => {
    const gone = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
    const [ofGone, ofFormer, ofLiving, foreign] = [gone, process.pid, process.ppid, 'other'].map(
      owner => mkdtempSync(join(file(), `pressroom-chrome-${owner}-`)),
    );
    mkdirSync(join(ofGone!, 'Default'));
    const mine = await makeProfile(undefined);
    await sweepProfiles();
    const left = readdirSync(file()).map(name => join(file(), name));
    expect(left).to.have.members([mine.path, ofLiving, foreign]);
    expect(left).to.not.include(ofFormer);
    await mine.remove();
    await mine.remove();
    expect(readdirSync(file())).to.have.length(2);
  });

  it('name TMPDIR in the error when they cannot be created', async () => {
    const nowhere = file('nowhere');
    useFolder(nowhere);
    expect((await errorOf(makeProfile(undefined)))?.message).to.equal(
      `Cannot create a profile folder for Chrome in ${nowhere} (ENOENT). Free space there, or set TMPDIR to another folder.`,
    );
  });
});

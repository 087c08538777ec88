import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { BatchDirectory } from '../../../cli/batch-directory.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('the directory of `pressroom batch`', () => {
  const at = temporaryFolder();

  it('is not locked by an earlier process with the same ID, but by another process', async () => {
    await mkdir(at('locked'));
    await writeFile(at('locked/.pressroom-batch.lock'), String(process.pid));
    const directory = await BatchDirectory.open(at('locked'));
    expect(await readdir(directory.path)).to.deep.equal(['.pressroom-batch.lock']);
    await directory.unlock();
    expect(await readdir(directory.path)).to.deep.equal([]);
    await writeFile(at('locked/.pressroom-batch.lock'), String(process.ppid));
    const error = await BatchDirectory.open(at('locked')).catch(reason => reason);
    expect(error.message).to.match(new RegExp(`^Process ${process.ppid} already writes to `));
  });

  it('writes through no symbolic link', async () => {
    await mkdir(at('links'));
    await writeFile(at('other'), 'unchanged');
    const links = ['.pressroom-batch.json.part', `.pressroom-batch.lock.${process.pid}`];
    for (const link of links) await symlink(at('other'), at('links', link));
    const directory = await BatchDirectory.open(at('links'));
    await directory.save();
    await directory.unlock();
    expect(await readFile(at('other'), 'utf8')).to.equal('unchanged');
    expect(await readdir(directory.path)).to.deep.equal(['.pressroom-batch.json']);
  });

  it('removes incomplete PDFs of an earlier run, and nothing else', async () => {
    const first = await BatchDirectory.open(at('drafts'));
    await writeFile(first.draft(42), 'incomplete');
    await writeFile(at('drafts/notes.1.2.part'), 'of the user');
    await first.unlock();
    const second = await BatchDirectory.open(at('drafts'));
    await second.unlock();
    expect(await readdir(second.path)).to.deep.equal(['notes.1.2.part']);
  });
});

import { readdir, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { BatchDirectory } from '../../../cli/batch-directory.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('the directory of `pressroom batch`', () => {
  const at = temporaryFolder();

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

import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { CliError } from '../../../cli/failure.ts';
import { savePdf } from '../../../cli/pdf-output.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const body = () => new Response('%PDF-').body!;

describe('the file of a PDF', () => {
  const at = temporaryFolder();

  it('can have the longest name that file systems allow', async () => {
    const name = `${'x'.repeat(251)}.pdf`;
    await savePdf(body(), at(name));
    expect(await readdir(at())).to.deep.equal([name]);
  });

  it('is not written through a symbolic link at the path of its draft', async () => {
    await writeFile(at('other'), 'unchanged');
    await symlink(at('other'), at('draft'));
    await savePdf(body(), at('new.pdf'), { draft: at('draft') });
    expect(await readFile(at('other'), 'utf8')).to.equal('unchanged');
    expect(await readFile(at('new.pdf'), 'utf8')).to.equal('%PDF-');
  });

  it('reports the error of writing, also when the draft cannot be removed', async () => {
    const draft = at('y'.repeat(300));
    const error = await savePdf(body(), at('no.pdf'), { draft }).catch(reason => reason);
    expect(error).to.be.instanceOf(CliError);
    expect(error.message).to.match(/^Cannot write .*no\.pdf: ENAMETOOLONG/);
  });
});

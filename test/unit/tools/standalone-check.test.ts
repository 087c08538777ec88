import { writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { generate, staleFiles } from '../../../tools/generated.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

describe('the check of generated files', () => {
  const at = temporaryFolder();

  it('names a file that is missing or differs until it is generated again', async () => {
    const files = ['a/one.txt', 'two.txt'].map(name => ({
      file: relative(ROOT, at(name)),
      text: () => `made for ${name}\n`,
    }));
    await writeFile(at('two.txt'), 'changed by hand\n');
    expect(await staleFiles(files)).to.deep.equal(files.map(({ file }) => file));
    await generate(files);
    expect(await staleFiles(files)).to.deep.equal([]);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { layOutForLargePages, layoutOf, programOf } from '../../worker/program-layout.ts';
import { temporaryFolder } from '../support/temporary.ts';

const LARGE_PAGE = 2 ** 21;
const LAYOUT = new URL('../../worker/program-layout.ts', import.meta.url).href;
const DEBIAN = '#!/bin/sh -e\n\n/usr/bin/cat "$@"\n';

/** What the file says is loaded: where it is in the file, where in memory, and what is there. */
function loaded(file: string) {
  const bytes = readFileSync(file);
  const word = (at: number) => Number(bytes.readBigUInt64LE(at));
  return Array.from({ length: bytes.readUInt16LE(56) }, (_, nth) => word(32) + nth * 56)
    .filter(at => bytes.readUInt32LE(at) === 1)
    .map(at => ({
      flags: bytes.readUInt32LE(at + 4),
      offset: word(at + 8),
      address: word(at + 16),
      inMemory: word(at + 40),
      content: bytes.subarray(word(at + 8), word(at + 8) + word(at + 32)),
    }));
}

describe('a program laid out for large pages', () => {
  const at = temporaryFolder();
  const laidOut = async (program: string) => {
    await layOutForLargePages(program, at('laid-out'));
    return at('laid-out');
  };

  it('runs as before, and has each part where the file has it, from a multiple of 2 MiB on', async () => {
    const cat = await laidOut('/usr/bin/cat');
    expect(await layoutOf('/usr/bin/cat')).to.equal('small');
    expect(await layoutOf(cat)).to.equal('large');
    const mapped = execFileSync(cat, ['/proc/self/maps'], { encoding: 'utf8' })
      .split('\n')
      .filter(line => line.endsWith(cat))
      .map(
        line =>
          /^(\w+)-\w+ \S+ (\w+)/
            .exec(line)!
            .slice(1)
            .map(hex => Number.parseInt(hex, 16)) as [number, number],
      );
    const base = mapped[0]![0];
    expect(base % LARGE_PAGE).to.equal(0);
    expect(mapped.length).to.be.greaterThan(2);
    for (const [address, offset] of mapped) expect(address - base).to.equal(offset);
  });

  it('has the same to the byte in memory', async () => {
    for (const program of ['/usr/bin/cat', '/bin/sh', '/usr/bin/perl']) {
      const [before, after] = [loaded(await programOf(program)), loaded(await laidOut(await programOf(program)))];
      expect(after.map(({ address, flags, inMemory }) => [address, flags, inMemory])).to.deep.equal(
        before.map(({ address, flags, inMemory }) => [address, flags, inMemory]),
      );
      for (const [nth, { offset, address, content }] of after.entries()) {
        expect(offset).to.equal(address);
        // The first segment begins with the headers that tell the new places.
        const from = nth === 0 ? 4_096 : 0;
        expect(content.subarray(from).equals(before[nth]!.content.subarray(from)), `${program}, segment ${nth}`).to.equal(true);
      }
    }
  });

  it('keeps its mode, and can take the place of what it was made of', async () => {
    copyFileSync('/usr/bin/cat', at('mine'));
    execFileSync('chmod', ['750', at('mine')]);
    await layOutForLargePages(at('mine'), at('mine'));
    expect(statSync(at('mine')).mode & 0o777).to.equal(0o750);
    expect(execFileSync(at('mine'), { input: 'hello', encoding: 'utf8' })).to.equal('hello');
    await layOutForLargePages(at('mine'), at('mine'));
    expect(execFileSync(at('mine'), { input: 'again', encoding: 'utf8' })).to.equal('again');
  });

  it('is not made of anything else, which stays as it was', async () => {
    copyFileSync('/usr/bin/cat', at('cut off'));
    truncateSync(at('cut off'), 20_000);
    writeFileSync(at('empty'), '');
    mkdirSync(at('folder'));
    writeFileSync(at('script'), DEBIAN);
    for (const [file, why] of [
      ['cut off', 'it ends before'],
      ['empty', 'no ELF program'],
      ['script', 'no ELF program'],
      ['nothing', 'ENOENT'],
      ['folder', 'is no file'],
    ] as const) {
      const before = ['nothing', 'folder'].includes(file) ? undefined : readFileSync(at(file));
      const error = await layOutForLargePages(at(file), at(file)).catch((reason: Error) => reason);
      expect((error as Error).message)
        .to.include(at(file))
        .and.include(why);
      if (before) expect(readFileSync(at(file)).equals(before)).to.equal(true);
    }
    expect(await layoutOf(at('script'))).to.equal('other');
    expect(await layoutOf(at('empty'))).to.equal('other');
    expect(readdirSync(at()).filter(name => name.includes('unfinished'))).to.deep.equal([]);
  });

  it('is not there when the disk is full before its end', async () => {
    // Of cat's last segment a part has room: the kernel takes that part without an error.
    const [last] = loaded('/usr/bin/cat').slice(-1);
    const blocks = Math.floor((last!.address + last!.content.length - 1) / 512);
    const script = `import { layOutForLargePages } from ${JSON.stringify(LAYOUT)}; process.on('SIGXFSZ', () => {}); await layOutForLargePages('/usr/bin/cat', process.argv[1]);`;
    const limited = `ulimit -f ${blocks}; exec "$0" --input-type=module -e "$1" "$2"`;
    const { status, stderr } = spawnSync('/bin/sh', ['-c', limited, process.execPath, script, at('too large')], { encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stderr).to.include('/usr/bin/cat cannot be laid out for large pages: EFBIG');
    expect(readdirSync(at()).filter(name => name.startsWith('too large'))).to.deep.equal([]);
  });

  it('is looked for behind links, and behind a script that only runs it', async () => {
    const script = async (text: string) => {
      writeFileSync(at('wrapper'), text);
      return programOf(at('wrapper'));
    };
    expect(await script(DEBIAN)).to.equal('/usr/bin/cat');
    expect(await script('#!/bin/sh\n# Made by hand.\nexec /usr/bin/cat "$@"\n')).to.equal('/usr/bin/cat');
    symlinkSync(at('wrapper'), at('link'));
    expect(await programOf(at('link'))).to.equal('/usr/bin/cat');
    for (const more of ['export LD_LIBRARY_PATH=/opt/lib\nexec /usr/bin/cat "$@"\n', '/usr/bin/cat --flag "$@"\n', '/usr/bin/cat "$1"\n'])
      expect(await script(`#!/bin/sh\n${more}`)).to.equal(at('wrapper'));
    expect(await programOf(at('link'))).to.equal(at('wrapper'));
  });
});

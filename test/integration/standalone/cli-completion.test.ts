// The completion scripts in the shells they are for.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PRESSROOM_PROGRAM } from '../../support/run-program.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const run = promisify(execFile);

describe('the page on the command line', () => {
  it('lists all commands', async () => {
    const { stdout } = await run(process.execPath, [PRESSROOM_PROGRAM, 'completion', 'bash']);
    const paths = [
      ...stdout.matchAll(
        /^ {4}'([a-z][a-z-]*(?: [a-z][a-z-]*)?)'\) words='(?:|bash zsh fish)' options/gm,
      ),
    ];
    const page = await readFile(new URL('../../../docs/command-line.md', import.meta.url), 'utf8');
    expect(
      [...page.matchAll(/^\| `pressroom ([a-z -]+)` \|/gm)].map(([, path]) => path),
    ).to.have.members(paths.map(([, path]) => path));
  });
});

const CALL = `_pressroom; printf '%s\\n' "\${COMPREPLY[@]}"`;
/** What a user types, the last word incomplete. */
const quote = (words: string[]) => words.map(word => `'${word}'`).join(' ');
const SHELLS: Record<string, (script: string, words: string[]) => string[]> = {
  bash: (script, words) => [
    '-c',
    `source ${script}; COMP_WORDS=(${quote(words)}); COMP_CWORD=${words.length - 1}; ${CALL}`,
  ],
  // bashcompinit calls the function with the arrays of ksh. zsh itself drops what does not match.
  zsh: (script, words) => [
    '-fc',
    `source ${script}; setopt ksh_arrays; COMP_WORDS=(${quote(words)}); COMP_CWORD=${words.length - 1}; ${CALL}`,
  ],
  fish: (script, words) => [
    '--no-config',
    '-c',
    `source ${script}; complete -C '${words.join(' ')}' | string replace -r '\\t.*' ''`,
  ],
};

for (const [shell, args] of Object.entries(SHELLS))
  describe(`completion in ${shell}`, function () {
    this.timeout(60_000);
    const at = temporaryFolder();
    before(async function () {
      const { stdout } = await run(process.execPath, [PRESSROOM_PROGRAM, 'completion', shell]);
      await writeFile(at('script'), stdout);
      await run(shell, ['--version']).catch(() => skip(this, `${shell} is not installed`));
    });

    const completed = async (...words: string[]) => {
      const { stdout } = await run(shell, args(at('script'), ['pressroom', ...words]), {
        cwd: at(),
        env: { PATH: process.env['PATH'], HOME: at(), TERM: 'dumb' },
      });
      return stdout.split('\n').filter(line => line !== '' && line.startsWith(words.at(-1)!));
    };

    it('completes commands', async () => {
      expect(await completed('a')).to.have.members(['accounts', 'admin', 'api']);
    });

    it('completes subcommands', async () => {
      expect(await completed('keys', 'c')).to.deep.equal(['create']);
      expect(await completed('accounts', 's')).to.deep.equal(['set']);
    });

    it('completes options, also after other options', async () => {
      expect(await completed('keys', 'create', '--al')).to.deep.equal(['--allowed-ip']);
      expect(await completed('render', 'x.html', '--format', 'A4', '--land')).to.deep.equal([
        '--landscape',
      ]);
    });

    it('completes the choices of an option', async () => {
      expect(await completed('accounts', 'set', 'acme', '--intranet', 'o')).to.have.members([
        'on',
        'off',
      ]);
      expect(await completed('render', 'x.html', '--emulate-media', 's')).to.deep.equal(['screen']);
    });

    it('leaves names of files to the shell', async () => {
      if (shell === 'fish') return;
      expect(await completed('render', '')).to.deep.equal([]);
      expect(await completed('render', 'x.html', '--output', '')).to.deep.equal([]);
    });

    it('completes the choices of an argument', async () => {
      expect(await completed('completion', 'z')).to.deep.equal(['zsh']);
    });
  });

import { execFileSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { createBundleFile, writeBundleFile } from '../../../cli/bundle-archive.ts';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../../support/run-program.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: Error) => error.message,
  );

describe('the archive of a support bundle', () => {
  const at = temporaryFolder();

  it('contains each file by its path in one folder, and only its owner can read it', async () => {
    const output = at('bundle.tar.gz');
    await createBundleFile(output);
    await writeBundleFile(
      output,
      new Map([
        ['pods.json', '[]\n'],
        ['logs/pressroom-api-1.jsonl', '{"level":"info"}\n'],
      ]),
    );
    execFileSync('tar', ['-xzf', output, '-C', at()]);
    expect((await readdir(at('pressroom-support'), { recursive: true })).sort()).to.deep.equal([
      'logs',
      'logs/pressroom-api-1.jsonl',
      'pods.json',
    ]);
    expect(await readFile(at('pressroom-support/logs/pressroom-api-1.jsonl'), 'utf8')).to.equal(
      '{"level":"info"}\n',
    );
    expect((await stat(output)).mode & 0o777).to.equal(0o600);
  });

  it('keeps the collected files when the archive cannot be written', async () => {
    const output = at('no-such-folder/bundle.tar.gz');
    const message = await failure(writeBundleFile(output, new Map([['pods.json', '[]\n']])));
    const [, folder] =
      /cannot be written: .+\. The collected files are in (.+)\.$/.exec(message) ?? [];
    expect(await readFile(`${folder}/pods.json`, 'utf8'), message).to.equal('[]\n');
  });

  it('does not replace an existing file', async () => {
    const output = at('existing.tar.gz');
    await writeFile(output, 'mine');
    expect(await failure(createBundleFile(output))).to.equal(
      `${output} exists. Choose another file with --output.`,
    );
    expect(await readFile(output, 'utf8')).to.equal('mine');
  });

  const run = (args: string[], env: Record<string, string> = {}) =>
    runNodeProgram(PRESSROOM_PROGRAM, ['support-bundle', '--namespace', 'pdf', ...args], env);

  it('is refused before anything is collected when its file cannot be created', async () => {
    const output = at('no-such-folder/bundle.tar.gz');
    const { code, errors } = await run(['-o', output]);
    expect(code).to.equal(1);
    expect(errors).to.equal(
      `${output} cannot be created (ENOENT). Choose another file with --output.\n`,
    );
  });

  it('needs kubectl, and leaves no empty file behind without it', async () => {
    const output = at('without-kubectl.tar.gz');
    const { code, errors } = await run(['-o', output], { PATH: at() });
    expect(code).to.equal(1);
    expect(errors).to.equal('kubectl is not in the PATH. Install it and run this command again.\n');
    expect(await readdir(at())).to.not.include('without-kubectl.tar.gz');
  });

  it('needs a duration as the age of the oldest log line', async () => {
    const { code, errors } = await run(['-o', at('since.tar.gz'), '--since', 'yesterday']);
    expect(code).to.equal(2);
    expect(errors).to.equal('--since must be a duration such as 30m or 24h. `yesterday` is not.\n');
  });
});

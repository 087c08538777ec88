import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findChrome } from '../../worker/browser/find-chrome.ts';
import { skip } from '../support/skip.ts';
import { runConfined } from './chart/confined.ts';
import { CHART } from './chart/helm.ts';
import { nodePrograms, whyNoNode } from './node/node-programs.ts';

const MINUTE_MS = 60_000;
const RENDERED = /<p>rendered<\/p>/;
const SANDBOX_ERROR = /sandbox|namespace|sys_chroot|zygote/i;

interface Rule {
  names: string[];
  args?: { value: number }[];
}

/** All CLONE_NEW… flags, which container runtimes block by default. */
const ALL_NAMESPACES = 0x7e02_0000;

describe("Chrome's sandbox in a container", function () {
  this.timeout(3 * MINUTE_MS);
  const profile = JSON.parse(readFileSync(join(CHART, 'files/seccomp/chrome.json'), 'utf8'));
  let runc: string;
  const chrome = (filter: object | undefined) =>
    runConfined(
      runc,
      [
        findChrome(process.env.PRESSROOM_CHROME),
        '--user-data-dir=/tmp/profile',
        '--dump-dom',
        'data:text/html,<p>rendered</p>',
      ],
      filter,
    );
  const changed = (change: (rules: Rule[]) => Rule[]) => ({
    ...profile,
    syscalls: change(structuredClone(profile.syscalls)),
  });
  const without = (name: string) =>
    changed(rules => rules.filter(({ names }) => !names.includes(name)));

  before(async function () {
    this.timeout(6 * MINUTE_MS);
    const why = await whyNoNode(console.log);
    if (why !== undefined) skip(this, why);
    ({ runc } = await nodePrograms(console.log));
  });

  it('starts with the seccomp profile of the chart', async () => {
    expect(await chrome(profile)).to.match(RENDERED);
  });

  for (const name of ['unshare', 'chroot'])
    it(`does not start if the profile blocks ${name}`, async () => {
      const output = await chrome(without(name));
      expect(output).not.to.match(RENDERED);
      expect(output).to.match(SANDBOX_ERROR);
    });

  it('does not start if clone cannot create namespaces, as with the default profile', async () => {
    const filter = changed(rules =>
      rules.map(rule =>
        rule.names.includes('clone')
          ? { ...rule, args: [{ ...rule.args![0]!, value: ALL_NAMESPACES }] }
          : rule,
      ),
    );
    const output = await chrome(filter);
    expect(output).not.to.match(RENDERED);
    expect(output).to.match(SANDBOX_ERROR);
  });

  it('allows only the sockets that pages need, even to root in its own network namespace', async () => {
    const families = {
      inet: '2, 1, 0',
      routes: '16, 3, 0',
      netfilter: '16, 3, 12',
      packets: '17, 3, 0',
      virtual: '40, 1, 0',
      crypto: '38, 5, 0',
    };
    const attempts = Object.entries(families).map(
      ([name, args]) => `print "${name} ", (socket(my $s, ${args}) ? "opened" : "refused"), "\\n";`,
    );
    const output = await runConfined(
      runc,
      ['unshare', '--user', '--map-root-user', '--net', 'perl', '-e', attempts.join('\n')],
      profile,
    );
    expect(output.trim().split('\n')).to.deep.equal([
      'inet opened',
      'routes opened',
      'netfilter refused',
      'packets refused',
      'virtual refused',
      'crypto refused',
    ]);
  });

  it('blocks 32-bit system calls, whose socket arguments a filter cannot inspect', () => {
    expect(profile.architectures).to.deep.equal(['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64']);
    expect(profile.syscalls.flatMap(({ names }: Rule) => names)).not.to.include('socketcall');
  });

  it('does not allow mounts in new namespaces', async () => {
    const output = await runConfined(
      runc,
      [
        'unshare',
        '--user',
        '--map-root-user',
        'sh',
        '-c',
        'id -u; mount -t tmpfs x /tmp || echo refused',
      ],
      profile,
    );
    expect(output)
      .to.match(/^0$/m)
      .and.to.match(/^refused$/m);
    expect(
      await runConfined(runc, ['unshare', '--user', '--map-root-user', '--mount', 'true'], profile),
    ).to.match(/not permitted/);
  });
});

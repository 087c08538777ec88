import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startCommand } from '../../../worker/browser/chrome-start.ts';
import { IMAGES, type ImagesOfPage } from '../../support/pages/changing-network.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { errorOf, evaluate, startWorker, TEST_SECRET } from '../../support/worker.ts';

const run = promisify(execFile);
const MODULE = new URL('../../support/pages/changing-network.ts', import.meta.url).href;
const UNPRIVILEGED = ['setpriv', '--reuid=65534', '--clear-groups'];
/**
 * Runs as a user without namespaces: the first command of a user namespace forbids further ones
 * and drops its privileges.
 */
const WITHOUT_NAMESPACES = [
  ...[
    'unshare',
    '--user',
    '--map-root-user',
    'sh',
    '-c',
    'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"',
  ],
  ...['setpriv', '--bounding-set=-all', '--inh-caps=-all'],
];

describe('a network change of the machine', () => {
  before(function () {
    if (process.getuid?.() !== 0)
      skip(this, 'only root may have networks and users of its own making');
  });

  /** A Chrome in its own network namespace, which changes. */
  async function imagesWith(heard: boolean): Promise<ImagesOfPage> {
    const script = `import { imagesThroughChange } from '${MODULE}'; process.stdout.write(JSON.stringify(await imagesThroughChange(${heard}))); process.exit();`;
    const env = { ...process.env, PRESSROOM_POOL_SECRET: TEST_SECRET };
    const { stdout } = await run(
      'unshare',
      ['--net', process.execPath, '--input-type=module', '--eval', script],
      { env, timeout: 50_000 },
    );
    return JSON.parse(stdout);
  }

  it('loses images of pages in a Chrome that receives the notification', async () => {
    expect((await imagesWith(true)).lost).to.be.greaterThan(0);
  });

  it('loses no images of pages in a worker’s Chrome', async () => {
    expect(await imagesWith(false)).to.deep.equal({ shown: IMAGES, lost: 0 });
  });

  describe('is filtered', () => {
    const [SOCKET, BIND] = process.arch === 'arm64' ? [198, 200] : [41, 49];

    /**
     * A program that subscribes to address changes like Chrome and opens sockets like the C
     * library. It prints whether it gets them and whether it has dropped privileges.
     */
    async function started(as: readonly string[], sandbox: boolean) {
      const program = `
        use Socket;
        my $number = syscall ${SOCKET}, 16, SOCK_RAW, 0;
        my $address = pack 'S S L L', 16, 0, 0, 0x111;
        print 'Bound: ', syscall(${BIND}, $number, $address, length $address), "\n";
        open my $netlink, '+<&=', $number;
        print 'Groups: ', (unpack 'S S L L', getsockname $netlink)[3], "\n";
        for ([Netlink => 16], [Internet => AF_INET], [Unix => AF_UNIX]) {
          my ($name, $family) = @$_;
          print "$name: ", socket(my $socket, $family, SOCK_DGRAM, 0) ? 'yes' : $!, "\n";
        }
        open my $status, '<', '/proc/self/status';
        print <$status>;`;
      const line = startCommand({ executable: 'perl', sandbox }, ['-e', program]);
      const [first, ...rest] = [...as, line[0], ...line[1]];
      const { stdout, stderr } = await run(first!, rest, {
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      });
      expect(stderr).to.equal('');
      const field = (name: string) => new RegExp(`^${name}:\\s+(.+)$`, 'm').exec(stdout)?.[1];
      expect([field('Bound'), field('Internet'), field('Unix')]).to.deep.equal(['0', 'yes', 'yes']);
      return {
        subscribed: field('Groups') !== '0',
        library: field('Netlink'),
        noNewPrivileges: field('NoNewPrivs') === '1',
      };
    }
    const FILTERED = { subscribed: false, library: 'Address family not supported by protocol' };
    const HEARD = { subscribed: true, library: 'yes' };

    it('for a program that then cannot gain privileges', async () => {
      expect(await started(UNPRIVILEGED, true)).to.deep.equal({
        ...FILTERED,
        noNewPrivileges: true,
      });
    });

    it('unless the sandbox needs a set-uid helper', async function () {
      const rejected = await errorOf(
        run(WITHOUT_NAMESPACES[0]!, [...WITHOUT_NAMESPACES.slice(1), 'true']),
      );
      if (rejected)
        skip(this, `how many namespaces there may be cannot be set here: ${rejected.message}`);
      expect(await started(WITHOUT_NAMESPACES, true)).to.deep.equal({
        ...HEARD,
        noNewPrivileges: false,
      });
      expect(await started(WITHOUT_NAMESPACES, false)).to.deep.equal({
        ...FILTERED,
        noNewPrivileges: true,
      });
    });
  });

  describe('is not filtered, and Chrome still starts, on a machine', () => {
    const at = temporaryFolder();
    const wordsOf = async (path: string) => {
      const [shell, args] = startCommand({ executable: process.execPath, sandbox: true }, [
        '--print',
        'process.argv.slice(1).join()',
        'one word',
        "it's",
      ]);
      return (await run(shell, args, { env: { PATH: path } })).stdout;
    };

    it('without Perl', async () => {
      expect(await wordsOf('/nowhere')).to.equal("one word,it's\n");
    });

    it('whose Perl does not work', async () => {
      await writeFile(at('perl'), '#!/bin/sh\necho "no version of perl is set" >&2\nexit 127\n', {
        mode: 0o755,
      });
      expect(await wordsOf(`${at('.')}:${process.env.PATH}`)).to.equal("one word,it's\n");
    });
  });

  for (const [machine, path] of [
    ['with Perl', process.env.PATH],
    ['without Perl', '/nowhere'],
  ])
    it(`reports a Chrome that is not executable in one line, on a machine ${machine}`, async () => {
      const [shell, args] = startCommand({ executable: '/no/such/chrome', sandbox: true }, []);
      const error = (await errorOf(
        run(shell, args, { env: { ...process.env, PATH: path } }),
      )) as Error & { code: number; stderr: string };
      expect(error.code).to.equal(127);
      expect(error.stderr).to.match(/^\/no\/such\/chrome: .*[Nn](o such file|ot found).*\n$/);
    });

  it('does not block WebRTC while it reads addresses', async () => {
    const worker = await startWorker();
    try {
      const session = await worker.open();
      const gathered = `(async () => {
        const peer = new RTCPeerConnection();
        const done = new Promise(resolve => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve('gathered') });
        peer.createDataChannel('any');
        await peer.setLocalDescription(await peer.createOffer());
        return done;
      })()`;
      expect(await evaluate(session, gathered)).to.equal('gathered');
    } finally {
      await worker.stop();
    }
  });
});

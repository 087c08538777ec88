import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { generated, staleFiles } from '../../../../tools/generated.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const CHART = join(ROOT, 'charts/pressroom');
const read = (file: string) => readFileSync(join(CHART, file), 'utf8');

interface Rule {
  names: string[];
  action: string;
  errnoRet?: number;
  args?: { index: number; value: number; valueTwo: number; op: string }[];
}

// linux/sched.h
const CLONE = {
  time: 0x80,
  mounts: 0x0002_0000,
  cgroup: 0x0200_0000,
  uts: 0x0400_0000,
  ipc: 0x0800_0000,
  user: 0x1000_0000,
  pid: 0x2000_0000,
  net: 0x4000_0000,
};

describe('the files of the chart', () => {
  it('have the version of the product', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const chart = parse(read('Chart.yaml'));
    expect([chart.version, chart.appVersion]).to.deep.equal([version, version]);
  });

  it('are current when they are generated', async () => {
    const files = generated.filter(({ file }) => file.startsWith('charts/'));
    expect(await staleFiles(files)).to.deep.equal([]);
  });

  it('name no registry: images have the names under which they are built', () => {
    const { image, mongodb } = parse(read('values.yaml'));
    const names = [image.api, image.worker, image.controller, mongodb.bundled.image].map(
      ({ repository }) => repository,
    );
    expect([image.registry, ...names]).to.deep.equal([
      '',
      'pressroom-api',
      'pressroom-worker',
      'pressroom-controller',
      'mongo',
    ]);
  });

  it('list all values with their meaning in the README', () => {
    const rows = read('README.md')
      .split('\n')
      .filter(line => /^\| (\*\*)?`/.test(line));
    expect(rows.length).to.be.greaterThan(200);
    expect(rows.filter(row => /\| *\|$/.test(row))).to.deep.equal([]);
  });

  describe('the seccomp profile for Chrome', () => {
    const profile = JSON.parse(read('files/seccomp/chrome.json'));
    const rules: Rule[] = profile.syscalls;

    /** What becomes of a call, as the kernel's filter decides it. */
    const verdict = (name: string, ...values: number[]): string => {
      const found = rules.find(
        ({ names, args = [] }) =>
          names.includes(name) &&
          args.every(({ index, value, valueTwo, op }) => {
            const given = BigInt(values[index] ?? 0);
            if (op === 'SCMP_CMP_MASKED_EQ') return (given & BigInt(value)) === BigInt(valueTwo);
            return op === 'SCMP_CMP_EQ' ? given === BigInt(value) : given !== BigInt(value);
          }),
      );
      if (!found) return `error ${profile.defaultErrnoRet}`;
      return found.action === 'SCMP_ACT_ALLOW' ? 'allowed' : `error ${found.errnoRet}`;
    };

    it('has only fields that both containerd and CRI-O read', () => {
      expect(Object.keys(profile)).to.have.members([
        'defaultAction',
        'defaultErrnoRet',
        'architectures',
        'syscalls',
      ]);
      for (const rule of rules)
        expect(['names', 'action', 'args', 'errnoRet']).to.include.members(Object.keys(rule));
      expect(profile.defaultAction).to.equal('SCMP_ACT_ERRNO');
    });

    it("allows the namespaces that Chrome's sandbox needs", () => {
      expect(verdict('clone', CLONE.user | CLONE.pid | CLONE.net | 17)).to.equal('allowed');
      expect(verdict('unshare', CLONE.user)).to.equal('allowed');
      expect(verdict('chroot')).to.equal('allowed');
      expect(
        ['seccomp', 'prctl', 'capset', 'setresuid', 'ptrace', 'execve'].map(name => verdict(name)),
      ).to.deep.equal(Array(6).fill('allowed'));
    });

    it('allows no other namespaces and none of the calls that need them', () => {
      for (const kind of ['mounts', 'cgroup', 'uts', 'ipc'] as const) {
        expect(verdict('clone', CLONE.user | CLONE[kind]), kind).to.equal('error 1');
        expect(verdict('unshare', CLONE.user | CLONE[kind]), kind).to.equal('error 1');
      }
      expect(verdict('unshare', CLONE.time)).to.equal('error 1');
      for (const name of [
        'mount',
        'umount2',
        'pivot_root',
        'setns',
        'bpf',
        'io_uring_setup',
        'perf_event_open',
        'keyctl',
        'add_key',
        'init_module',
        'kexec_load',
        'userfaultfd',
        'fsopen',
        'move_mount',
        'open_tree',
        'reboot',
      ])
        expect(verdict(name), name).to.equal('error 1');
    });

    it('reports clone3 as missing, so that the C library uses clone, whose flags a filter can check', () => {
      expect(verdict('clone3')).to.equal('error 38');
    });
  });
});

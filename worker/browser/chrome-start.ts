// The command that starts Chrome: with batch scheduling, and without notifications about network
// changes of the machine. Both are optional: where the system lacks support, Chrome starts without.
import { readFileSync } from 'node:fs';

/** The executable, and whether it uses Chrome's own sandbox. */
export interface StartedProgram {
  executable: string;
  sandbox: boolean;
}

/**
 * Linux numbers by architecture: AUDIT_ARCH of seccomp(2) and the system calls socket, bind, prctl,
 * seccomp and unshare.
 */
const NUMBERS: Partial<
  Record<NodeJS.Architecture, readonly [number, number, number, number, number, number]>
> = {
  x64: [0xc000003e, 41, 49, 157, 317, 272],
  arm64: [0xc00000b7, 198, 200, 167, 277, 97],
};

/**
 * Perl program that installs a seccomp(2) filter against netlink notifications and then executes
 * Chrome. Perl, because Node cannot make these system calls and every Debian includes Perl.
 *
 * - bind(2) with an address of 12 bytes (netlink) reports success and does nothing. Chrome can
 *   still read its addresses once through the same socket, which WebRTC requires.
 * - socket(2) for netlink with SOCK_CLOEXEC, as the C library opens it, fails with EAFNOSUPPORT:
 *   otherwise the C library would wait for answers for ever. Chrome opens it without that flag.
 * - SECCOMP_FILTER_FLAG_SPEC_ALLOW, as in Chrome's own filters: without it older kernels are slow.
 *
 * The filter requires no_new_privs, which disables Chrome's set-uid sandbox helper. It is therefore
 * skipped where Chrome needs that helper because namespaces are not available.
 */
const NETLINK_FILTER = String.raw`
  use strict;
  my ($sandbox, $arch, $socket, $bind, $prctl, $seccomp, $unshare) = map { $_ + 0 } splice @ARGV, 0, 7;
  my $filter = pack '(S C C L)*', map { @$_ }
    [0x20, 0, 0, 4], [0x15, 0, 11, $arch],
    [0x20, 0, 0, 0], [0x15, 6, 0, $bind], [0x15, 0, 8, $socket],
    [0x20, 0, 0, 16], [0x15, 0, 6, 16], [0x20, 0, 0, 24], [0x45, 0, 4, 0x80000], [0x06, 0, 0, 0x00050000 | 97],
    [0x20, 0, 0, 32], [0x15, 0, 1, 12], [0x06, 0, 0, 0x00050000],
    [0x06, 0, 0, 0x7fff0000];
  sub needs_no_helper {
    return 1 unless $sandbox;
    my $child = fork;
    return 0 unless defined $child;
    exit(syscall($unshare, 0x10000000) == 0 && syscall($unshare, 0x40000000) == 0 ? 0 : 1) unless $child;
    waitpid $child, 0;
    return $? == 0;
  }
  syscall($seccomp, 1, 4, pack 'S x6 P', length($filter) / 8, $filter) if needs_no_helper() and syscall($prctl, 38, 1, 0, 0, 0) == 0;
  exec { $ARGV[0] } @ARGV or print STDERR "$ARGV[0]: $!\n";
  exit 127;
`;

/**
 * Chrome's processes wake each other constantly. Under the batch policy (sched(7)) a woken process
 * does not preempt the process that woke it.
 */
const AS_BATCH = 'chrt --batch --pid 0 $$ >/dev/null 2>&1';

/**
 * The command that starts Chrome, for `spawn`. The spawned process becomes Chrome.
 *
 * Batch scheduling saves about 5 % of a render's CPU through fewer context switches.
 *
 * When an address of the machine changes, for example with a container's interface, Chrome drops
 * all requests without a connection (net::ERR_NETWORK_CHANGED), and no flag prevents that. Chrome
 * reaches only a proxy on loopback, so it needs no such notification.
 */
export function startCommand(
  { executable, sandbox }: StartedProgram,
  args: readonly string[],
): [string, string[]] {
  const numbers = process.platform === 'linux' ? NUMBERS[process.arch] : undefined;
  if (!numbers) return ['/bin/sh', ['-c', `${AS_BATCH}; exec "$0" "$@"`, executable, ...args]];
  const filter = [NETLINK_FILTER, ...[Number(sandbox), ...numbers].map(String)];
  const script = `${AS_BATCH}; perl -Mstrict -e 1 >/dev/null 2>&1 && exec perl -e "$@"; shift ${filter.length}; exec "$@"`;
  // The first `executable` is $0, which the shell prints in its own error messages.
  return ['/bin/sh', ['-c', script, executable, ...filter, executable, ...args]];
}

/** The number of seccomp filters on a process; unknown on kernels before 5.9. */
const filtersOf = (pid: number | 'self'): number | undefined => {
  const count = /^Seccomp_filters:\s+(\d+)$/m.exec(
    readFileSync(`/proc/${pid}/status`, 'latin1'),
  )?.[1];
  return count === undefined ? undefined : Number(count);
};

/**
 * Whether a child process has more seccomp filters than this process. Undefined when the kernel
 * does not report it or the process has exited.
 */
export function hasOwnFilter(pid: number): boolean | undefined {
  try {
    const [child, own] = [filtersOf(pid), filtersOf('self')];
    return child === undefined || own === undefined ? undefined : child > own;
  } catch {
    return undefined;
  }
}

// How Chrome's process is made: scheduled as a batch, and deaf to changes of the machine's network.
// What of it cannot be had is left out: Chrome starts all the same.
import { readFileSync } from 'node:fs';

/** What is started, and whether by Chrome's own sandbox. */
export interface StartedProgram {
  executable: string;
  sandbox: boolean;
}

/**
 * Numbers of Linux by architecture: AUDIT_ARCH of seccomp(2), and the calls socket, bind, prctl,
 * seccomp and unshare.
 */
const NUMBERS: Partial<
  Record<NodeJS.Architecture, readonly [number, number, number, number, number, number]>
> = {
  x64: [0xc000003e, 41, 49, 157, 317, 272],
  arm64: [0xc00000b7, 198, 200, 167, 277, 97],
};

/**
 * Becomes a program that hears no news of netlink, nor does what it starts: by a filter of
 * seccomp(2) a bind(2) of an address of 12 bytes, as those of netlink are, does nothing and says
 * that it did. Chrome asks the kernel for its addresses by the same socket, and gets them once,
 * which WebRTC waits for. The C library, which would wait for ever for answers to the address that
 * it thinks it has, gets no netlink sockets (EAFNOSUPPORT): it opens them with SOCK_CLOEXEC, Chrome
 * without. SECCOMP_FILTER_FLAG_SPEC_ALLOW, as Chrome has it in its own filters: without it older
 * kernels run all of Chrome more slowly.
 *
 * Such a filter takes from the program what set-uid programs gain (no_new_privs), on which Chrome's
 * set-uid helper for its sandbox depends: where the namespaces cannot be had that Chrome has its
 * sandbox of without that helper, there is none. In Perl, since Node can make no such call, and
 * each Debian has it.
 */
const DEAFENED = String.raw`
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
 * Chrome's many processes wake each other all the time. By this policy of Linux (sched(7)) one that
 * wakes waits for its turn, and does not take the core from whoever woke it and has more to say.
 */
const AS_BATCH = 'chrt --batch --pid 0 $$ >/dev/null 2>&1';

/**
 * The command line by which Chrome starts, for `spawn`. Its process becomes Chrome.
 *
 * Scheduled as a batch it has the same share of the machine with fewer switches, a twentieth less
 * CPU for a render.
 *
 * Whenever an address of the machine comes or goes, an interface of a container among them, Chrome
 * drops all requests that have no connection yet (net::ERR_NETWORK_CHANGED): of a page with 60
 * images 42 were missing. No flag stops that. Here all that it can reach is a proxy on loopback, so
 * it needs no news of the network.
 */
export function startLine(
  { executable, sandbox }: StartedProgram,
  args: readonly string[],
): [string, string[]] {
  const numbers = process.platform === 'linux' ? NUMBERS[process.arch] : undefined;
  if (!numbers) return ['/bin/sh', ['-c', `${AS_BATCH}; exec "$0" "$@"`, executable, ...args]];
  const given = [DEAFENED, ...[Number(sandbox), ...numbers].map(String)];
  const become = `${AS_BATCH}; perl -Mstrict -e 1 >/dev/null 2>&1 && exec perl -e "$@"; shift ${given.length}; exec "$@"`;
  // The first is what the shell calls itself, should it have something to say.
  return ['/bin/sh', ['-c', become, executable, ...given, executable, ...args]];
}

/** How many filters of seccomp hold a process; kernels before 5.9 do not tell. */
const filtersOf = (pid: number | 'self'): number | undefined => {
  const told = /^Seccomp_filters:\s+(\d+)$/m.exec(
    readFileSync(`/proc/${pid}/status`, 'latin1'),
  )?.[1];
  return told === undefined ? undefined : Number(told);
};

/**
 * Whether a process that this one started is held by one filter more. Undefined where the kernel
 * does not tell, or the process is gone.
 */
export function hasOwnFilter(pid: number): boolean | undefined {
  try {
    const [its, ours] = [filtersOf(pid), filtersOf('self')];
    return its === undefined || ours === undefined ? undefined : its > ours;
  } catch {
    return undefined;
  }
}

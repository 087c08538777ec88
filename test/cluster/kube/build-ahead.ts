// A process that has all programs of the cluster built, at a lower priority, while the tests run
// that come before those which use them.
import { setPriority } from 'node:os';
import { kubeBinaries, whyNoBinaries } from './binaries.ts';
import { type Binary, MODULES } from './versions.ts';

const names = MODULES.flatMap(({ programs }) => programs.map(({ name }) => name as Binary));

/**
 * At the lowest priority (19) a build outlasts the tests that run beside it, and later tests wait
 * for it.
 */
const NICE = 10;

setPriority(NICE);
// Why they can not be had is told by the tests that need them.
if (whyNoBinaries(names) === undefined) await kubeBinaries(names);

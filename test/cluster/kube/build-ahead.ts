// A process that has all programs of the cluster built, at the lowest priority, while the tests run that come before those which use them.
import { constants, setPriority } from 'node:os';
import { kubeBinaries, whyNoBinaries } from './binaries.ts';
import { type Binary, MODULES } from './versions.ts';

const names = MODULES.flatMap(({ programs }) => programs.map(({ name }) => name as Binary));

setPriority(constants.priority.PRIORITY_LOW);
// Why they can not be had is told by the tests that need them.
if (whyNoBinaries(names) === undefined) await kubeBinaries(names);

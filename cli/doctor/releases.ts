// Releases of API, workers and controller for `pressroom doctor`. Each release works together with
// the previous one.
import { checkPassed, checkWarning, type DoctorCheck } from './doctor-check.ts';

export interface ReleaseFacts {
  /** Of the running API process, or of this program when that does not respond. */
  api: string;
  /** Undefined: a worker of a release that does not report it. */
  workers: readonly (string | undefined)[];
  /** Undefined: not visible from here. */
  controllers: readonly string[] | undefined;
}

/** Releases between two versions; a patch is no release of its own. Undefined when not comparable. */
export function releasesApart(one: string, other: string): number | undefined {
  if (one === other) return 0;
  const [first, second] = [one, other].map(version =>
    /^v?(\d+)\.(\d+)\.\d+/.exec(version)?.slice(1).map(Number),
  );
  if (!first || !second) return undefined;
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [first, second];
  if (major === otherMajor) return Math.abs(minor - otherMinor);
  // The first release of a major version follows the last one before it, whose number is not known.
  const newerMinor = major > otherMajor ? minor : otherMinor;
  return Math.abs(major - otherMajor) + newerMinor;
}

const UPGRADE =
  'Upgrade all processes to the same release, because each release works only with the previous one.';

function comparison(subject: string, what: string, found: readonly string[], api: string) {
  const apart = found.map(release => releasesApart(release, api));
  const message = `${what} ${[...new Set(found)].sort().join(', ')}, the API ${api}.`;
  if (apart.some(number => number === undefined || number > 1))
    return checkWarning(subject, message, UPGRADE);
  return checkPassed(subject, message);
}

export function checkReleases({ api, workers, controllers }: ReleaseFacts): DoctorCheck[] {
  const known = workers.filter(release => release !== undefined);
  const ofWorkers = 'Release of workers';
  const ofController = 'Release of controller';
  return [
    ...(known.length > 0 ? [comparison(ofWorkers, 'Workers are', known, api)] : []),
    ...(known.length < workers.length
      ? [
          checkPassed(
            ofWorkers,
            `${workers.length - known.length} of ${workers.length} workers do not report their release. They are of an older one.`,
          ),
        ]
      : []),
    controllers === undefined || controllers.length === 0
      ? checkPassed(
          ofController,
          controllers
            ? 'Prometheus has no metrics of a controller, so its release is not visible from here.'
            : `It is not visible from here without Prometheus. The API is ${api}.`,
        )
      : comparison(ofController, 'The controller is', controllers, api),
  ];
}

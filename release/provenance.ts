// The provenance of an image or chart: the predicate of SLSA 1.0, which says from which sources and
// by whom it was built. https://slsa.dev/spec/v1.0/provenance
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './build-image.ts';
import type { ReleaseSettings } from './release-settings.ts';

export interface BuildTimes {
  startedOn: string;
  finishedOn: string;
}

/** The base image of the Dockerfile, by its name, tag and digest. */
export function baseImage(): { name: string; tag: string; sha256: string } {
  const text = readFileSync(join(REPOSITORY_ROOT, 'Dockerfile'), 'utf8');
  const found = /^ARG BASE=(\S+):(\S+)@sha256:([0-9a-f]{64})$/m.exec(text);
  if (!found) throw new Error('the Dockerfile does not name its base image by digest');
  const [, name, tag, sha256] = found;
  return { name: name!, tag: tag!, sha256: sha256! };
}

/** The URL of a Git repository without a name and a password, which a remote may contain. */
export const withoutCredentials = (url: string): string =>
  url.replace(/^(https?:\/\/)[^/]*@/, '$1');

/** `subject` is what was built: an image or the chart. */
export function provenanceOf(
  { source, revision, version, builder }: ReleaseSettings,
  subject: string,
  times: BuildTimes,
): object {
  const base = baseImage();
  return {
    buildDefinition: {
      buildType: 'https://pressroom.dev/release/v1',
      externalParameters: { source, revision, version, subject },
      resolvedDependencies: [
        { uri: `git+${source}`, digest: { gitCommit: revision } },
        { uri: `pkg:docker/${base.name}@${base.tag}`, digest: { sha256: base.sha256 } },
      ],
    },
    runDetails: { builder: { id: builder }, metadata: times },
  };
}

// What a release consists of and where it goes.
import type { ReleaseTools } from './release-tools.ts';

export interface ReleaseImage {
  /** Its repository in the registry. */
  name: string;
  /** The stage of the Dockerfile. */
  target: string;
  /** Follows the version in its tag: empty, except for variants. */
  suffix: string;
  buildArgs: Readonly<Record<string, string>>;
}

const releaseImage = (target: string, suffix = '', buildArgs = {}): ReleaseImage => ({
  name: `pressroom-${target}`,
  target,
  suffix,
  buildArgs,
});

/** The images of a release, in the order in which they are built. */
export const RELEASE_IMAGES: readonly ReleaseImage[] = [
  releaseImage('api'),
  releaseImage('worker'),
  releaseImage('worker', '-no-cjk', { FONTS: 'no-cjk' }),
  releaseImage('controller'),
];

/** The repository of the chart, below the registry of the images. */
export const CHART_REPOSITORY = 'charts/pressroom';

export interface ReleaseSettings {
  /** Registry and path, such as `registry.corp.example/pressroom`. */
  registry: string;
  /** The registry speaks HTTP without TLS. Only for tests. */
  plainHttp: boolean;
  version: string;
  /** The Git commit. */
  revision: string;
  /** The URL of the Git repository, for the provenance. */
  source: string;
  /** Identifies what runs the build, for the provenance: a URI. */
  builder: string;
  /** The private key for cosign: a file, `env://NAME` or the URI of a key management service. */
  key: string;
  /** An existing folder for the results. */
  folder: string;
  tools: ReleaseTools;
  /** More options of `buildah bud`. */
  buildOptions: readonly string[];
}

/** An image or chart in the registry. */
export interface Published {
  /** Relative to the registry. */
  repository: string;
  tag: string;
  /** The digest of the image index, or of the manifest of a chart. */
  digest: string;
  /** The digests of an image for each architecture; empty for a chart. */
  platforms: { architecture: string; digest: string }[];
}

export const repositoryOf = ({ registry }: ReleaseSettings, repository: string): string =>
  `${registry}/${repository}`;

/** All digests of an image or chart, the index first. */
export const digestsOf = ({ digest, platforms }: Published): string[] => [
  digest,
  ...platforms.map(platform => platform.digest),
];

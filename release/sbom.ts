// The software bill of materials of an image in SPDX 2.3: its npm packages, its Debian packages,
// and Node and Chromium by the names under which vulnerabilities are published.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SpdxPackage {
  name: string;
  SPDXID: string;
  versionInfo: string;
  downloadLocation: string;
  filesAnalyzed?: boolean;
  primaryPackagePurpose?: string;
  supplier?: string;
  externalRefs?: { referenceCategory: string; referenceType: string; referenceLocator: string }[];
}

interface SpdxRelationship {
  spdxElementId: string;
  relatedSpdxElement: string;
  relationshipType: string;
}

export interface SpdxDocument {
  spdxVersion: string;
  SPDXID: string;
  name: string;
  creationInfo: { created: string; creators: string[] };
  documentNamespace: string;
  documentDescribes: string[];
  packages: SpdxPackage[];
  relationships: SpdxRelationship[];
}

interface ImageIdentity {
  /** The mounted root of its file system. */
  root: string;
  name: string;
  version: string;
  /** The digest of its manifest. */
  digest: string;
  /** Time of the build. */
  created: string;
}

/** In an SPDX identifier only letters, digits, `.` and `-` are allowed. */
const spdxId = (kind: string, name: string) =>
  `SPDXRef-${kind}-${name.replaceAll(/[^A-Za-z0-9.-]+/g, '-')}`;

const purlRef = (purl: string) => ({
  referenceCategory: 'PACKAGE-MANAGER',
  referenceType: 'purl',
  referenceLocator: purl,
});

const cpeRef = (vendor: string, product: string, version: string) => ({
  referenceCategory: 'SECURITY',
  referenceType: 'cpe23Type',
  referenceLocator: `cpe:2.3:a:${vendor}:${product}:${version}:*:*:*:*:*:*:*`,
});

/** The fields of a paragraph of a Debian control file; continuation lines are left out. */
const fieldsOf = (paragraph: string): Record<string, string> =>
  Object.fromEntries(
    [...paragraph.matchAll(/^([A-Za-z-]+): (.*)$/gm)].map(([, name, value]) => [name, value]),
  );

/** The Debian packages in the text of `/var/lib/dpkg/status`. `release` is such as `12`. */
export const debianPackages = (status: string, release: string): SpdxPackage[] =>
  status
    .split('\n\n')
    .map(fieldsOf)
    .filter(({ Status }) => Status === 'install ok installed')
    .map(({ Package, Version, Architecture, Source, Maintainer }) => {
      // `Source` may have a version of its own: `chromium (1.2-3)`.
      const [, source, sourceVersion] = /^(\S+)(?: \((.+)\))?$/.exec(Source ?? '') ?? [];
      const upstream = source && [source, sourceVersion].filter(Boolean).join('@');
      const query = [
        `arch=${Architecture}`,
        `distro=debian-${release}`,
        ...(upstream ? [`upstream=${encodeURIComponent(upstream)}`] : []),
      ];
      return {
        name: Package!,
        SPDXID: spdxId('deb', `${Package}-${Architecture}`),
        versionInfo: Version!,
        downloadLocation: 'NOASSERTION',
        filesAnalyzed: false,
        ...(Maintainer && { supplier: `Organization: ${Maintainer.replace(/ <.*/, '')}` }),
        externalRefs: [
          purlRef(
            `pkg:deb/debian/${encodeURIComponent(Package!)}@${encodeURIComponent(Version!)}?${query.join('&')}`,
          ),
        ],
      };
    });

/** A program by its common name, beside the package that contains it. */
const program = (name: string, version: string, vendor: string, product: string): SpdxPackage => ({
  name,
  SPDXID: spdxId('program', name),
  versionInfo: version,
  downloadLocation: 'NOASSERTION',
  filesAnalyzed: false,
  primaryPackagePurpose: 'APPLICATION',
  externalRefs: [purlRef(`pkg:generic/${name}@${version}`), cpeRef(vendor, product, version)],
});

/** Node is an npm package here; Chromium is a Debian package with a Debian revision. */
function commonPrograms(npm: readonly SpdxPackage[], debian: readonly SpdxPackage[]) {
  const node = npm.find(({ name }) => /^node-linux-/.test(name));
  if (!node) throw new Error('the list of npm packages contains no Node');
  const chromium = debian.find(({ name }) => name === 'chromium-headless-shell');
  return [
    program('node', node.versionInfo, 'nodejs', 'node.js'),
    ...(chromium
      ? [program('chromium', chromium.versionInfo.replace(/-.*/, ''), 'google', 'chrome')]
      : []),
  ];
}

/**
 * The SPDX document of an image: its list of npm packages, with its Debian packages and common
 * programs added. All of them are contained in the image, which is the package that it describes.
 */
export function imageSbom({ root, name, version, digest, created }: ImageIdentity): SpdxDocument {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const npm = JSON.parse(read('app/pressroom.spdx.json')) as SpdxDocument;
  const [, release = ''] = /^VERSION_ID="?(\d+)/m.exec(read('etc/os-release')) ?? [];
  const debian = debianPackages(read('var/lib/dpkg/status'), release);
  const image: SpdxPackage = {
    name,
    SPDXID: 'SPDXRef-image',
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    primaryPackagePurpose: 'CONTAINER',
    externalRefs: [purlRef(`pkg:oci/${name}@${encodeURIComponent(digest)}`)],
  };
  const contents = [...npm.packages, ...debian, ...commonPrograms(npm.packages, debian)];
  return {
    ...npm,
    name: `${name}-${version}`,
    documentNamespace: `https://pressroom.dev/spdx/${name}/${version}/${digest.replace(':', '-')}`,
    // SPDX allows no fractions of a second.
    creationInfo: {
      created: created.replace(/\.\d+Z$/, 'Z'),
      creators: ['Tool: pressroom-release'],
    },
    documentDescribes: [image.SPDXID],
    packages: [image, ...contents],
    relationships: [
      {
        spdxElementId: 'SPDXRef-DOCUMENT',
        relatedSpdxElement: image.SPDXID,
        relationshipType: 'DESCRIBES',
      },
      ...npm.relationships.filter(({ relationshipType }) => relationshipType !== 'DESCRIBES'),
      ...contents.map(({ SPDXID }) => ({
        spdxElementId: image.SPDXID,
        relatedSpdxElement: SPDXID,
        relationshipType: 'CONTAINS',
      })),
    ],
  };
}

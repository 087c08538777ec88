import { expect } from 'chai';
import { debianPackages } from '../../../release/sbom.ts';

const STATUS = `Package: libc6
Status: install ok installed
Maintainer: GNU Libc Maintainers <debian-glibc@lists.debian.org>
Architecture: amd64
Source: glibc
Version: 2.36-9+deb12u10
Description: GNU C Library: Shared libraries
 Contains the standard libraries.

Package: libstdc++6
Status: install ok installed
Architecture: amd64
Source: gcc-12 (12.2.0-14)
Version: 12.2.0-14+b1

Package: removed
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0

Package: tzdata
Status: install ok installed
Architecture: all
Version: 2025b-0+deb12u1
`;
const packages = debianPackages(STATUS, '12');
const purlOf = (name: string) =>
  packages.find(each => each.name === name)?.externalRefs?.[0]?.referenceLocator;

describe('the Debian packages of an SBOM', () => {
  it('are those that are installed', () => {
    expect(packages.map(({ name }) => name)).to.deep.equal(['libc6', 'libstdc++6', 'tzdata']);
  });

  it('have package URLs with the source package, by which vulnerabilities are published', () => {
    expect(purlOf('libc6')).to.equal(
      'pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64&distro=debian-12&upstream=glibc',
    );
    expect(purlOf('tzdata')).to.equal(
      'pkg:deb/debian/tzdata@2025b-0%2Bdeb12u1?arch=all&distro=debian-12',
    );
  });

  it('name the version of a source package that differs from their own', () => {
    expect(purlOf('libstdc++6')).to.equal(
      'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bb1?arch=amd64&distro=debian-12&upstream=gcc-12%4012.2.0-14',
    );
  });

  it('name their maintainer without the address', () => {
    expect(packages[0]!.supplier).to.equal('Organization: GNU Libc Maintainers');
    expect(packages[1]).not.to.have.property('supplier');
  });

  it('have identifiers that SPDX allows', () => {
    for (const { SPDXID } of packages) expect(SPDXID).to.match(/^SPDXRef-[A-Za-z0-9.-]+$/);
  });
});

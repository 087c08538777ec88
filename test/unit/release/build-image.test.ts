import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ARCHITECTURES, MACHINE, whyNotBuilt } from '../../../release/build-image.ts';

const other = ARCHITECTURES.find(each => each !== MACHINE)!;
const name = { amd64: 'qemu-x86_64', arm64: 'qemu-aarch64' }[other];

describe('the architectures of a release', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pressroom-test-binfmt-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const register = (text: string) => writeFileSync(join(folder, name), text);

  it('include that of the machine without an emulator', () => {
    expect(whyNotBuilt(MACHINE, folder)).to.equal(undefined);
  });

  it('include another one with an emulator that also works in a container', () => {
    register('enabled\ninterpreter /usr/bin/qemu-static\nflags: OCF\noffset 0\n');
    expect(whyNotBuilt(other, folder)).to.equal(undefined);
  });

  it('leave out another one without an emulator, and name the missing file', () => {
    expect(whyNotBuilt(other, folder)).to.include(`${join(folder, name)} does not exist`);
  });

  it('leave out another one whose emulator is disabled', () => {
    register('disabled\ninterpreter /usr/bin/qemu-static\nflags: F\n');
    expect(whyNotBuilt(other, folder)).to.include('is disabled');
  });

  it('leave out another one whose emulator does not exist in a container', () => {
    register('enabled\ninterpreter /usr/bin/qemu-static\nflags: OC\n');
    expect(whyNotBuilt(other, folder)).to.include('has no flag F');
  });
});

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { checkChrome, checkFonts, checkMemory, checkMongo, checkNode, checkPort } from '../../standalone/doctor.ts';
import { readWorkerConfig } from '../../worker/config.ts';

const GIB = 2 ** 30;
const chromeConfig = (env: Record<string, string> = {}) => readWorkerConfig({ PATH: process.env.PATH, ...env }).chrome;

describe('the doctor', () => {
  it('wants Node 24', () => {
    expect(checkNode('24.1.0').level).to.equal('ok');
    expect(checkNode('20.20.2')).to.deep.include({ level: 'fail' });
  });

  it('measures the free memory against the slots', () => {
    expect(checkMemory(2 * GIB, 2)).to.include({ level: 'ok' });
    expect(checkMemory(1 * GIB, 32)).to.include({ level: 'warn' });
    expect(checkMemory(GIB / 4, 2)).to.include({ level: 'fail' });
    expect(checkMemory(GIB / 4, 2).text)
      .to.include('256 MiB')
      .and.include('PRESSROOM_SLOTS');
  });

  it('warns when there are no fonts', () => {
    expect(checkFonts(12)).to.deep.equal({ level: 'ok', text: '12 fonts' });
    expect(checkFonts(0).level).to.equal('warn');
  });

  it('names who has a port', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const taken = await checkPort(port, 'PRESSROOM_PORT', 'the API');
    server.close();
    await once(server, 'close');
    expect(taken.level).to.equal('warn');
    expect(taken.text).to.include(String(port)).and.include(`process ${process.pid}`).and.include('PRESSROOM_PORT');
    expect(await checkPort(port, 'PRESSROOM_PORT', 'the API')).to.include({ level: 'ok' });
  });

  it('really starts Chrome, and warns when that is without its sandbox', async () => {
    const good = await checkChrome(process.env, chromeConfig());
    expect(good.text)
      .to.match(/Chrome\/\d+/)
      .and.include('its sandbox works');
    const bare = await checkChrome(process.env, chromeConfig({ PRESSROOM_CHROME_SANDBOX: 'off' }));
    expect(bare.level).to.equal('warn');
    expect(bare.text).to.include('without its sandbox').and.include('PRESSROOM_CHROME_SANDBOX');
  });

  it('fails on a configured Chrome that is not there or is none', async () => {
    const none = await checkChrome({ ...process.env, PRESSROOM_CHROME: '/nowhere/chrome' }, chromeConfig());
    expect(none.level).to.equal('fail');
    expect(none.text).to.include('PRESSROOM_CHROME=/nowhere/chrome');
    const other = await checkChrome({ ...process.env, PRESSROOM_CHROME: '/bin/false' }, chromeConfig());
    expect(other.level).to.equal('fail');
  });

  it('only warns when a Chrome or a mongod is still to be installed', async () => {
    const empty = { PATH: '/nowhere', PRESSROOM_CACHE_DIR: '/nowhere' };
    expect(await checkChrome(empty, chromeConfig())).to.include({ level: 'warn' });
    expect(await checkMongo(empty, undefined)).to.include({ level: 'warn' });
  });

  it('fails when MONGODB_URI does not answer, without showing its password', async () => {
    const finding = await checkMongo({}, 'mongodb://someone:hidden@127.0.0.1:1/?serverSelectionTimeoutMS=300');
    expect(finding.level).to.equal('fail');
    expect(finding.text).to.include('MONGODB_URI').and.not.include('hidden');
  });
});

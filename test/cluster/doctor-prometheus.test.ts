import { expect } from 'chai';
import {
  checkPrometheus,
  controllerReleases,
  prometheusFacts,
} from '../../cli/doctor/prometheus-series.ts';
import { RELEASE } from '../../common/operations.ts';
import { type PressroomProcess, startPressroom } from '../fault/harness/pressroom-process.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/servers/free-port.ts';
import { testDatabase } from '../support/servers/mongod.ts';
import { skip } from '../support/skip.ts';
import { type Prometheus, startPrometheus, type Target } from './prometheus.ts';
import { prometheusBinaries } from './prometheus-binaries.ts';

/** The API and Prometheus may each take minutes to start beside heavy pages. */
const LIMIT_MS = 6 * 60_000;

describe('pressroom doctor with a real Prometheus', function () {
  this.timeout(LIMIT_MS);
  let api: PressroomProcess;
  let prometheus: Prometheus;
  let labeled: Target;

  before(async function () {
    const binaries = await prometheusBinaries(() => {});
    if (!binaries) return skip(this, 'Prometheus is not available.');
    const operationsPort = await freePort();
    api = startPressroom('api', 'api', operationsPort, {
      MONGODB_URI: (await testDatabase()).uri,
      PRESSROOM_PEPPER: 'a pepper of the tests',
      PRESSROOM_POOL_SECRET: 'a secret of the tests',
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_PORT: '0',
      PRESSROOM_DRAIN_DELAY: '0s',
    });
    await api.untilReady();
    labeled = {
      address: `127.0.0.1:${operationsPort}`,
      labels: { job: 'api', namespace: 'pdf', pod: 'api-1' },
    };
    prometheus = await startPrometheus({ binaries, targets: [labeled] });
  });
  after(async () => {
    await prometheus?.stop();
    await api?.kill('SIGTERM');
  });

  /** The line on the API once `fits` accepts its message. */
  const lineOfApi = (part: string) =>
    eventually(async () => {
      const facts = await prometheusFacts(prometheus.url, undefined, 'default');
      const [ofApi, ofWorkers] = checkPrometheus(facts);
      expect(ofApi!.message).to.include(part);
      return { facts, ofApi: ofApi!, ofWorkers: ofWorkers! };
    }, 60_000);

  it('finds the series of the API, and misses those of workers', async () => {
    const { facts, ofApi, ofWorkers } = await lineOfApi('of 1 API processes of the pool default');
    expect(ofApi.level).to.equal('ok');
    expect(ofWorkers).to.include({ level: 'error', subject: 'Prometheus, workers' });
    expect(controllerReleases(facts)).to.deep.equal([]);
    expect(JSON.stringify(facts)).to.include(RELEASE);
  });

  it('reports a scrape configuration that sets no namespace', async () => {
    await prometheus.setTargets([{ ...labeled, labels: { job: 'api' } }]);
    expect((await lineOfApi('has no label namespace')).ofApi.level).to.equal('error');
  });
});

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { skip } from '../support/skip.ts';
import { errorOf } from '../support/worker.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { type PrometheusBinaries, prometheusBinaries } from './prometheus-binaries.ts';

const MINUTE_MS = 60_000;

describe('test Prometheus', function () {
  this.timeout(2 * MINUTE_MS);
  let binaries: PrometheusBinaries;
  let prometheus: Prometheus | undefined;
  const process = createServer((_request, response) => response.end('answers{pool="own"} 42\n'));

  before(async function () {
    this.timeout(6 * MINUTE_MS);
    const found = await prometheusBinaries(console.log);
    if (!found)
      skip(
        this,
        'Prometheus is not installed and could not be downloaded (Debian package prometheus).',
      );
    binaries = found;
    await new Promise<void>(resolve => process.listen(0, '127.0.0.1', resolve));
    prometheus = await startPrometheus({ binaries });
  });
  after(async () => {
    await prometheus?.stop();
    process.closeAllConnections();
    await new Promise(resolve => process.close(resolve));
  });

  it('returns samples, and reports an invalid query', async () => {
    expect(await prometheus!.query('vector(7)')).to.deep.equal([{ labels: {}, value: 7 }]);
    expect(await prometheus!.query('nothing_of_that_name')).to.deep.equal([]);
    expect((await errorOf(prometheus!.query('sum(')))?.message).to.match(
      /^Prometheus rejected .*parse error/,
    );
  });

  it('scrapes targets that are added later, whose own labels take precedence', async () => {
    const { port } = process.address() as AddressInfo;
    await prometheus!.setTargets([
      { address: `127.0.0.1:${port}`, labels: { pod: 'one', pool: 'of discovery' } },
    ]);
    const [sample] = await prometheus!.until('answers');
    expect(sample).to.deep.include({ value: 42 });
    expect(sample!.labels).to.include({ pod: 'one', pool: 'own' });
  });

  it('does not respond while it is frozen', async () => {
    await prometheus!.freeze();
    let answered = false;
    const answer = prometheus!.query('vector(1)').then(() => {
      answered = true;
    });
    expect(readFileSync(`/proc/${prometheus!.pid}/stat`, 'utf8')).to.match(/\) T /);
    expect(answered).to.equal(false);
    prometheus!.thaw();
    await answer;
  });

  it('reports why it did not start', async () => {
    const failure = await errorOf(
      startPrometheus({ binaries: { ...binaries, prometheus: '/nowhere/prometheus' } }),
    );
    expect(failure?.message).to.match(/^Prometheus exited at startup: .*\/nowhere\/prometheus/);
  });
});

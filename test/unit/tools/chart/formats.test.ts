import { expect } from 'chai';
import type { z } from 'zod';
import { networkOf } from '../../../../common/addresses.ts';
import { httpUrl } from '../../../../common/config.ts';
import { parseBytes, parseDurationMs } from '../../../../common/units.ts';
import { specSchema } from '../../../../crds/browser-pool.ts';
import { formats } from '../../../../tools/chart/formats.ts';
import { valueRules } from '../../../../tools/chart/value-rules.ts';
import { chartValues } from '../../../../tools/chart/values.ts';
import { parseAllowRule } from '../../../../worker/egress/allow-list.ts';
import { parseNameServers } from '../../../../worker/egress/resolve.ts';

const throws = (call: () => unknown) => {
  try {
    call();
    return false;
  } catch {
    return true;
  }
};
const valid = (type: z.ZodType) => (text: string) => type.safeParse(text).success;
const { maxUnavailable, template } = specSchema.shape;

/** The parser of the process or of the API server, and texts that both accept or both refuse. */
const SAME: Partial<Record<keyof typeof formats, [(text: string) => boolean, string[]]>> = {
  duration: [
    text => parseDurationMs(text) !== undefined,
    ['0', '1s', '1.5h', '.5s', '1s500ms', '-1m', '1µs', '', '1', 's', '1x', '1s 2s', '1m3', '..5s'],
  ],
  bytes: [
    text => parseBytes(text) !== undefined,
    ['0', '4096', '100 MiB', '1.5GiB', '1B', '', '20MB', '1kib', '-1', '1.', '1  MiB', 'MiB'],
  ],
  httpUrl: [
    valid(httpUrl()),
    [
      'http://a',
      'https://a.example:8443/b?c#d',
      'foo',
      'ftp://a',
      'http://',
      'http:a',
      ' http://a',
    ],
  ],
  network: [
    text => !throws(() => networkOf(text)),
    [
      '10.1.2.3',
      '10.0.0.0/8',
      'fd00::/8',
      '::1',
      '::ffff:10.1.2.3',
      '::ffff:10.0.0.0/104',
      '0.0.0.0/0',
      '::/0',
    ].concat(['10.0.0.0/33', '10.0.0', '10.0.0.256', 'fd00::/129', 'a.example', '', '01.2.3.4']),
  ],
  nameServer: [
    text => !throws(() => parseNameServers([text])),
    [
      '10.0.0.53',
      '10.0.0.53:5353',
      'fd00::53',
      '[fd00::53]:53',
      'dns.corp',
      '10.0.0.53/32',
      'a:53',
    ],
  ],
  poolSize: [
    valid(template.shape.scratchSizeLimit),
    ['1Gi', '512Mi', '10Ki', '0Gi', '1.5Gi', '1G', '1', ''],
  ],
  maxUnavailable: [
    text => valid(maxUnavailable)(text) || (/^\d+$/.test(text) && Number(text) >= 1),
    ['1', '20', '1%', '99%', '0', '0%', '100%', '-1', '1.5', 'all'],
  ],
};

describe('the formats of chart values', () => {
  for (const [name, [accepts, texts]] of Object.entries(SAME))
    it(`accept the same texts as the parser: ${name}`, () => {
      const { pattern } = formats[name as keyof typeof formats];
      const ours = texts.filter(text => new RegExp(pattern).test(text));
      expect(ours).to.deep.equal(texts.filter(accepts));
      expect(ours.length).to.be.greaterThan(0).and.lessThan(texts.length);
    });

  it('accept every entry of an allowlist that a worker accepts', () => {
    const entries = [
      'wiki.corp',
      '*.corp.example:8443',
      '10.1.0.0/16',
      '10.2.3.4:9000',
      'fd00::/8',
    ].concat([
      '[fd01::5]:8443',
      'fd01::5',
      '[fd00::/8]:443',
      '10.0.0.0/8:80',
      'büro.example',
      'a_b.corp.',
    ]);
    for (const entry of entries) {
      expect(
        throws(() => parseAllowRule(entry)),
        entry,
      ).to.equal(false);
      expect(entry).to.match(new RegExp(formats.egressTarget.pattern));
    }
  });

  it('are kept by the defaults of the chart', () => {
    const { checks } = JSON.parse(valueRules());
    const defaults = chartValues.parse({});
    let seen = 0;
    for (const { path, format } of checks) {
      const value = path
        .split('.')
        .reduce((at: Record<string, unknown> | undefined, name: string) => at?.[name], defaults);
      if (value === undefined || value === '') continue;
      seen++;
      expect(String(value), path).to.match(
        new RegExp(formats[format as keyof typeof formats].pattern),
      );
    }
    expect(seen).to.be.greaterThan(8);
  });

  it('are all used', () => {
    const { checks } = JSON.parse(valueRules());
    const used = new Set(checks.map(({ format }: { format: string }) => format));
    expect(Object.keys(formats).filter(name => !used.has(name))).to.deep.equal([]);
  });
});

// @proves body-size, untagged-pdfs

import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { readApiConfig } from '../../../api/config.ts';
import {
  bytes,
  ConfigError,
  choice,
  duration,
  integer,
  listVariable,
  onOff,
  ports,
  readConfig,
  secret,
  textVariable,
} from '../../../common/config.ts';
import { parseBytes, parseDurationMs } from '../../../common/units.ts';
import { readWorkerConfig } from '../../../worker/config.ts';

const schema = z.object({
  A_TIME: duration('30s', 100, 60_000),
  A_SIZE: bytes('10MiB', 1024),
  A_NUMBER: integer('3', 1, 9),
  A_SWITCH: onOff('on'),
  A_WORD: choice(['red', 'green'], 'red'),
  A_LIST: listVariable('a, b'),
  SOME_PORTS: ports('80,443'),
  A_TEXT: textVariable('hello'),
  A_SECRET: secret(8),
});

const problemsOf = (env: Record<string, string>, of: z.ZodObject = schema): string => {
  try {
    readConfig(of, env);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message;
  }
  return '';
};

describe('the configuration', () => {
  it('has defaults in milliseconds and bytes', () => {
    expect(readConfig(schema, {})).to.deep.equal({
      A_TIME: 30_000,
      A_SIZE: 10 * 2 ** 20,
      A_NUMBER: 3,
      A_SWITCH: true,
      A_WORD: 'red',
      A_LIST: ['a', 'b'],
      SOME_PORTS: [80, 443],
      A_TEXT: 'hello',
    });
  });

  it('treats an empty value as absent', () => {
    expect(readConfig(schema, { A_TIME: '', A_SECRET: '', A_WORD: '' })).to.include({
      A_TIME: 30_000,
      A_WORD: 'red',
    });
  });

  it('reports all invalid variables together, with their values and what is accepted', () => {
    const message = problemsOf({
      A_TIME: '5',
      A_SIZE: '10MB',
      A_NUMBER: '10',
      A_SWITCH: 'yes',
      A_WORD: 'blue',
      SOME_PORTS: '80,x',
    });
    for (const part of [
      'A_TIME=5',
      'A_SIZE=10MB',
      'A_NUMBER=10',
      'A_SWITCH=yes',
      'A_WORD=blue',
      'SOME_PORTS=80,x',
      '10MiB',
      'from 1 to 9',
      'red, green',
      '`x`',
    ])
      expect(message).to.include(part);
    expect(message.split('\n')).to.have.length(7);
  });

  it('never shows a secret in an error', () => {
    const message = problemsOf({ A_SECRET: 'hunter2' });
    expect(message)
      .to.include('A_SECRET=(secret)')
      .and.to.include('8 characters')
      .and.to.not.include('hunter2');
  });

  it('reads a secret from a file and reports an unreadable file', () => {
    const file = join(tmpdir(), `pressroom-test-secret-${process.pid}`);
    writeFileSync(file, 'from the file\n');
    try {
      expect(readConfig(schema, { A_SECRET_FILE: file }).A_SECRET).to.equal('from the file');
      expect(
        readConfig(schema, { A_SECRET_FILE: file, A_SECRET: 'from the variable' }).A_SECRET,
      ).to.equal('from the variable');
    } finally {
      rmSync(file);
    }
    expect(problemsOf({ A_SECRET_FILE: file }))
      .to.include(`A_SECRET_FILE=${file}`)
      .and.to.include('ENOENT');
    expect(problemsOf({ A_SECRET: 'x', A_SECRET_FILE: file })).to.include('A_SECRET=(secret)');
  });

  it('of the worker reports invalid entries of lists', () => {
    const wrong = {
      PRESSROOM_EGRESS_ALLOW: 'a b',
      PRESSROOM_DNS_SERVERS: 'not-an-address',
      PRESSROOM_EGRESS_PROXY: 'ftp://user:pass@x',
    };
    const message = (() => {
      try {
        readWorkerConfig(wrong);
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(message)
      .to.include('PRESSROOM_EGRESS_ALLOW')
      .and.to.include('PRESSROOM_DNS_SERVERS')
      .and.to.include('PRESSROOM_EGRESS_PROXY')
      .and.to.not.include('pass@');
  });

  it('of the API adds the ports of the allowlist', () => {
    const { egress } = readApiConfig({
      PRESSROOM_EGRESS_ALLOW: 'wiki.corp:8000,10.0.0.0/8,[fd00::1]:9000,fd00::/8',
    });
    expect(egress.allowPorts).to.deep.equal([8_000, 9_000]);
  });

  for (const url of ['ftp://x', 'pressroom.example', 'http://'])
    it(`of the API rejects ${url} as the public URL`, () => {
      expect(() => readApiConfig({ PRESSROOM_PUBLIC_URL: url })).to.throw(
        ConfigError,
        'PRESSROOM_PUBLIC_URL',
      );
    });
});

describe('units', () => {
  const durations: [string, number | undefined][] = [
    ['0', 0],
    ['300ms', 300],
    ['1.5s', 1_500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['1s500ms', 1_500],
    ['250000us', 250],
    ['1h1m1s', 3_661_000],
    ['-1s', -1_000],
    ['+1s', 1_000],
    ['1µs', 0.001],
    ['', undefined],
    ['5', undefined],
    ['s', undefined],
    ['1 s', undefined],
    ['1S', undefined],
    ['1d', undefined],
    ['.s', undefined],
    ['--1s', undefined],
    ['1s ', undefined],
    [`${'1h'.repeat(40)}`, undefined],
  ];
  for (const [text, ms] of durations)
    it(`parse ${text || 'an empty text'} as ${ms === undefined ? 'an invalid duration' : `${ms} ms`}`, () => {
      expect(parseDurationMs(text)).to.equal(ms);
    });

  const sizes: [string, number | undefined][] = [
    ['0', 0],
    ['512', 512],
    ['512B', 512],
    ['1KiB', 1_024],
    ['1.5 MiB', 1.5 * 2 ** 20],
    ['1GiB', 2 ** 30],
    ['1MB', undefined],
    ['-1', undefined],
    ['', undefined],
    ['1e3', undefined],
  ];
  for (const [text, size] of sizes)
    it(`parse ${text || 'an empty text'} as ${size === undefined ? 'an invalid size' : `${size} bytes`}`, () => {
      expect(parseBytes(text)).to.equal(size);
    });
});

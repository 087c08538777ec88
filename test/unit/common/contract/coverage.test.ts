import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { HEADERS } from '../../../../common/contract/answers.ts';
import { RENDER_FAILED_REASONS, STATUS } from '../../../../common/contract/errors.ts';
import type { Proof } from '../../../../tools/limits/limit-row.ts';
import { inTests, proofExists } from '../../../support/proofs.ts';
import { description, requestFields } from '../../../support/request-fields.ts';

interface Row {
  /** The names in its first cell, in backticks. */
  names: string[];
  proofs: Proof[];
}

const PROOF = /^`((?:unit|integration|browser|cluster|fault)\/[\w/.-]+)`: (.+)$/;

function rowOf(line: string): Row {
  const [what = '', , ...proven] = line.replace(/^\| /, '').replace(/ \|$/, '').split(' | ');
  const proofs = proven
    .join(' | ')
    .split('<br>')
    .map(text => {
      const [, file, title] = PROOF.exec(text) ?? [];
      if (file === undefined || title === undefined)
        throw new Error(`test/README.md: "${text}" is no "\`file\`: title"`);
      return { file, title };
    });
  return { names: [...what.matchAll(/`([^`]+)`/g)].map(match => match[1]!), proofs };
}

const rows = readFileSync(inTests('README.md'), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('| ') && !/^\| (what|---) \|/.test(line))
  .map(rowOf);
const named = new Set(rows.flatMap(({ names }) => names));

describe('the table of what is proven', () => {
  it('has every field of a render request, those inside objects and lists too', () => {
    const fields = requestFields.map(([name]) => name);
    expect(fields).to.include.members(['html', 'margin.top', 'cookies.domain', 'metadata.title']);
    expect(fields.filter(field => !named.has(field))).to.deep.equal([]);
  });

  it('has every endpoint', () => {
    const endpoints = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    );
    expect(endpoints).to.include('POST /v1/trial/render');
    expect(endpoints.filter(endpoint => !named.has(endpoint))).to.deep.equal([]);
  });

  it('has every header, every error code and every reason', () => {
    const words = [...Object.keys(HEADERS), ...Object.keys(STATUS), ...RENDER_FAILED_REASONS];
    expect(words.filter(word => !named.has(word))).to.deep.equal([]);
  });

  it('has no field, header or code twice', () => {
    const all = rows.flatMap(({ names }) => names).filter(name => /^[\w.-]+$/.test(name));
    expect(all.filter((name, index) => all.indexOf(name) !== index)).to.deep.equal([]);
  });

  it('names only tests that exist', () => {
    const missing = rows.flatMap(({ proofs }) => proofs.filter(proof => !proofExists(proof)));
    expect(missing).to.deep.equal([]);
  });
});

describe('the table of what is promised', () => {
  it('names only tests that exist', () => {
    const text = readFileSync(inTests('../SECURITY.md'), 'utf8');
    const files = [...text.matchAll(/`((?:[\w-]+\/)+[\w*-]+\.test\.ts)`/g)].map(match => match[1]!);
    expect(files.length).to.be.greaterThan(50);
    expect(files.filter(file => globSync(inTests(file)).length === 0)).to.deep.equal([]);
  });
});

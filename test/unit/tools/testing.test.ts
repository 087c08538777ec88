import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { provenRules, testingSections } from '../../../tools/testing.ts';
import { inTests } from '../../support/proofs.ts';

const rules = testingSections().flatMap(({ rules }) => Object.keys(rules));

describe('the rules that tests prove', () => {
  it('include every endpoint, field, header, error code and reason of the contract', () => {
    expect(rules).to.include.members(['POST /v1/trial/render', 'html', 'cookies.domain']);
    expect(rules).to.include.members(['X-Usage-Count', 'ssrf_blocked', 'page_timeout']);
  });

  it('each have a test', () => {
    const proven = provenRules();
    expect(rules.filter(rule => !proven.has(rule))).to.deep.equal([]);
  });

  it('exist for every name in the tests', () => {
    expect([...provenRules().keys()].filter(rule => !rules.includes(rule))).to.deep.equal([]);
  });

  it('have unique names', () => {
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).to.deep.equal([]);
  });
});

describe('the promises of SECURITY.md', () => {
  it('name only tests that exist', () => {
    const text = readFileSync(inTests('../SECURITY.md'), 'utf8');
    const files = [...text.matchAll(/`((?:[\w-]+\/)+[\w*-]+\.test\.ts)`/g)].map(match => match[1]!);
    expect(files.length).to.be.greaterThan(50);
    expect(files.filter(file => globSync(inTests(file)).length === 0)).to.deep.equal([]);
  });
});

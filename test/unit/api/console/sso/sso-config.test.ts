import { expect } from 'chai';
import { readApiConfig } from '../../../../../api/config.ts';
import { ConfigError } from '../../../../../common/config.ts';

const WHOLE = {
  PRESSROOM_OIDC_ISSUER: 'https://login.example.com/tenant',
  PRESSROOM_OIDC_CLIENT_ID: 'pressroom',
  PRESSROOM_OIDC_CLIENT_SECRET: 'very secret',
  PRESSROOM_OIDC_DOMAINS: 'Example.com, bücher.example',
};

const read = (env: Record<string, string>) => readApiConfig(env).dashboard;
const problem = (env: Record<string, string>): string => {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  throw new Error('it was accepted');
};

describe('the configuration of single sign-on', () => {
  it('is off by default, with passwords on', () => {
    expect(read({})).to.include({ sso: undefined, passwords: true });
  });

  it('reads all variables, with domains in ASCII', () => {
    expect(read(WHOLE).sso).to.deep.equal({
      issuer: new URL('https://login.example.com/tenant'),
      clientId: 'pressroom',
      clientSecret: 'very secret',
      clientAuth: 'auto',
      name: 'Sign in with SSO',
      domains: ['example.com', 'xn--bcher-kva.example'],
      trustEmail: false,
      account: undefined,
      role: 'developer',
    });
  });

  it('names the missing variables of a partial configuration', () => {
    const { PRESSROOM_OIDC_DOMAINS: _, ...rest } = WHOLE;
    expect(problem(rest)).to.include('also set PRESSROOM_OIDC_DOMAINS').and.not.include('_ISSUER');
    for (const name of [...Object.keys(WHOLE), 'PRESSROOM_OIDC_ACCOUNT'])
      expect(
        problem({ [name]: (WHOLE as Record<string, string>)[name] ?? 'default' }),
        name,
      ).to.include('only partly configured');
  });

  it('never repeats the secret', () => {
    expect(problem({ PRESSROOM_OIDC_CLIENT_SECRET: 'very secret' })).to.not.include('very secret');
  });

  it('accepts an https issuer, and http only on localhost', () => {
    for (const issuer of [
      'http://localhost:8081',
      'http://127.0.0.1:8081/realms/a',
      'http://[::1]:1',
      'https://a.example/',
    ])
      expect(read({ ...WHOLE, PRESSROOM_OIDC_ISSUER: issuer }).sso!.issuer.href).to.equal(
        new URL(issuer).href,
      );
    for (const issuer of [
      'http://login.example.com',
      'http://localhost.example.com',
      'login.example.com',
      'ftp://localhost',
      'https://user:password@login.example.com',
      'https://login.example.com/?tenant=1',
      'https://login.example.com/.well-known/openid-configuration',
    ])
      expect(problem({ ...WHOLE, PRESSROOM_OIDC_ISSUER: issuer }), issuer).to.include(
        'PRESSROOM_OIDC_ISSUER',
      );
  });

  it('accepts domains, but neither patterns nor addresses', () => {
    for (const domain of [
      '*.example.com',
      '@example.com',
      'ada@example.com',
      'https://example.com',
      'com',
      '.example.com',
      'a..b',
    ])
      expect(
        problem({ ...WHOLE, PRESSROOM_OIDC_DOMAINS: `example.com,${domain}` }),
        domain,
      ).to.include('PRESSROOM_OIDC_DOMAINS');
  });

  it('does not accept the role owner', () => {
    expect(problem({ ...WHOLE, PRESSROOM_OIDC_ROLE: 'owner' })).to.include('PRESSROOM_OIDC_ROLE');
  });

  it('turns passwords off only with single sign-on', () => {
    expect(problem({ PRESSROOM_PASSWORDS: 'off' })).to.include('PRESSROOM_OIDC_ISSUER');
    expect(read({ ...WHOLE, PRESSROOM_PASSWORDS: 'off' }).passwords).to.equal(false);
  });
});

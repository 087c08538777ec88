import { expect } from 'chai';
import { readApiConfig } from '../../../../../api/config.ts';
import { ConfigError } from '../../../../../common/config.ts';

describe('the configuration of the first administrator', () => {
  const PASSWORD = 'correct horse battery';
  const admin = (env: Record<string, string>) => readApiConfig(env).dashboard.admin;

  it('is optional', () => expect(admin({})).to.equal(undefined));

  it('reads the address in lower case and the unchanged password', () => {
    expect(
      admin({ PRESSROOM_ADMIN_EMAIL: 'Root@Example.com', PRESSROOM_ADMIN_PASSWORD: PASSWORD }),
    ).to.deep.equal({
      email: 'root@example.com',
      password: PASSWORD,
    });
  });

  for (const [env, words] of [
    [{ PRESSROOM_ADMIN_EMAIL: 'root@example.com' }, 'the second is missing'],
    [{ PRESSROOM_ADMIN_PASSWORD: PASSWORD }, 'the first is missing'],
    [
      { PRESSROOM_ADMIN_EMAIL: 'root', PRESSROOM_ADMIN_PASSWORD: PASSWORD },
      'PRESSROOM_ADMIN_EMAIL=root: must be an email address',
    ],
    [
      { PRESSROOM_ADMIN_EMAIL: 'root@example.com', PRESSROOM_ADMIN_PASSWORD: 'short' },
      'must have at least 12 characters',
    ],
    [
      { PRESSROOM_ADMIN_EMAIL: 'root@example.com', PRESSROOM_ADMIN_PASSWORD: 'x'.repeat(201) },
      'must have at most 200 characters',
    ],
  ] as const)
    it(`rejects ${JSON.stringify(env).slice(0, 90)}`, () => {
      expect(() => admin(env))
        .to.throw(ConfigError, words)
        .with.property('message')
        .not.match(/short|correct horse|xxx/);
    });
});

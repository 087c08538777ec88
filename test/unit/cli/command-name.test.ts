import { expect } from 'chai';
import { commandName } from '../../../cli/command-name.ts';

describe('the name of the command', () => {
  it('is that of the npm script when npm runs it', () => {
    expect(commandName({ npm_lifecycle_event: 'pressroom' })).to.equal('npm run -s pressroom --');
  });

  it('is pressroom otherwise, also below another npm script', () => {
    for (const env of [{}, { npm_lifecycle_event: 'npx' }, { npm_lifecycle_event: 'test' }])
      expect(commandName(env)).to.equal('pressroom');
  });
});

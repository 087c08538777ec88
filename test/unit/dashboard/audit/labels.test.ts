import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import {
  MAY,
  PERMISSIONS,
  ROLE_DESCRIPTIONS,
} from '../../../../api/console/contract/permissions.ts';
import { actionLabel, detailLabel } from '../../../../dashboard/audit/labels.ts';
import { phasesOf } from '../../../../dashboard/playground/server-timing.ts';
import { deviceLabel } from '../../../../dashboard/profile/device.ts';
import { assignableRoles, ROLE_OPTIONS } from '../../../../dashboard/team/roles.ts';

describe('dashboard labels', () => {
  it('parses the Server-Timing header into consecutive phases', () => {
    expect(phasesOf('admit;dur=1.5, queue;dur=0.5, load;dur=38')).to.deep.equal([
      { name: 'admit', startMs: 0, durationMs: 1.5 },
      { name: 'queue', startMs: 1.5, durationMs: 0.5 },
      { name: 'load', startMs: 2, durationMs: 38 },
    ]);
    expect(phasesOf(null)).to.deep.equal([]);
    expect(phasesOf('broken, load;dur=x')).to.deep.equal([]);
  });

  it('derives a label from the name of an unknown action', () => {
    expect(actionLabel('key.created')).to.equal('Created an API key');
    expect(actionLabel('budget.set_high')).to.equal('Budget set high');
  });

  it('has a label for every action that the server records', async () => {
    const folder = new URL('../../../../api/', import.meta.url);
    const files = (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.ts'));
    const sources = (
      await Promise.all(files.map(name => readFile(new URL(name, folder), 'utf8')))
    ).join('\n');
    const quoted = [
      ...sources.matchAll(
        /'((?:account|app|key|invitation|member|operator|user|person)\.[a-z_]+|(?:batch|renders?)\.[a-z]+ed)'/g,
      ),
    ].map(([, name]) => name!);
    const actions = new Set(
      quoted.filter(name => !(PERMISSIONS as readonly string[]).includes(name)),
    );
    expect(actions.size).to.be.greaterThan(20);
    expect([...actions]).to.include.members(['batch.canceled', 'renders.purged']);
    expect(
      [...actions].filter(
        action => actionLabel(action).toLowerCase() === action.replace(/[._]/g, ' '),
      ),
    ).to.deep.equal([]);
  });

  it('shows the previous value of a change', () => {
    expect(detailLabel({ before: 'viewer', role: 'admin' })).to.equal('role: viewer → admin');
    expect(
      detailLabel({ plan: 'growth', planBefore: 'free', intranet: true, intranetBefore: false }),
    ).to.equal('plan: free → growth, intranet: no → yes');
    expect(detailLabel({ before: 'Acme' })).to.equal('before: Acme');
    expect(detailLabel({ state: 'paused', stateBefore: 'past_due' })).to.equal(
      'state: past due → suspended',
    );
    expect(detailLabel({})).to.equal('');
  });

  it('labels a User-Agent with browser and operating system', () => {
    const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';
    expect(deviceLabel(`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome}`)).to.equal(
      'Chrome on Windows',
    );
    expect(deviceLabel(`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Edg/150.0`)).to.equal(
      'Edge on Linux',
    );
    expect(
      deviceLabel(
        'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Safari/604.1',
      ),
    ).to.equal('Safari on iPhone');
    expect(deviceLabel('')).to.equal('Unknown device');
  });

  it('describes every role as the server does, and lets only owners assign the Owner role', () => {
    expect(
      Object.fromEntries(ROLE_OPTIONS.map(({ role, description }) => [role, description])),
    ).to.deep.equal(ROLE_DESCRIPTIONS);
    expect(ROLE_OPTIONS.map(({ role }) => role)).to.have.members(Object.keys(MAY));
    expect(assignableRoles('admin').map(({ role }) => role)).not.to.include('owner');
    expect(assignableRoles('owner').map(({ role }) => role)).to.include('owner');
  });
});

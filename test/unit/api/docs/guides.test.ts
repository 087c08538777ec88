import { expect } from 'chai';
import { readGuides } from '../../../../api/docs/guides.ts';
import { searchIndex } from '../../../../api/docs/search-index.ts';
import { ERRORS_GUIDE, errorAnchor } from '../../../../common/contract/error-guide.ts';
import {
  type ErrorCode,
  RENDER_FAILED_REASONS,
  STATUS,
} from '../../../../common/contract/errors.ts';
import { openApi } from '../../../../common/contract/openapi.ts';

const publicUrl = 'https://pdf.example.com';
const guides = readGuides(publicUrl);

describe('the guides', () => {
  it('begin with the quick start, and use the URL of the installation', () => {
    expect(guides[0]!.path).to.equal('/docs/guides/quick-start');
    expect(guides[0]!.html).to.include(publicUrl);
    for (const { html, path } of guides) expect(html, path).not.to.include('localhost:8080');
  });

  it('include asynchronous renders only where these are on', () => {
    const ofAsync = '/docs/guides/async-renders';
    const paths = (asyncRenders: boolean) =>
      readGuides(publicUrl, { asyncRenders }).map(({ path }) => path);
    expect(paths(false)).not.to.include(ofAsync);
    expect(paths(true)).to.include(ofAsync);
  });

  it('have a section for every code and every reason of an error', () => {
    const { sections } = guides.find(({ path }) => path === ERRORS_GUIDE)!;
    const ids = sections.map(({ id }) => id);
    const codes = (Object.keys(STATUS) as ErrorCode[]).filter(code => code !== 'render_failed');
    expect(ids).to.include.members([
      ...codes.map(code => errorAnchor(code)),
      ...RENDER_FAILED_REASONS.map(reason => errorAnchor('render_failed', reason)),
    ]);
  });

  it('are found by search, as are all fields', () => {
    const entries = searchIndex(openApi({ publicUrl }), guides);
    const titles = entries.map(({ title }) => title);
    expect(titles).to.include.members(['wait_for_selector', 'margin.top', 'X-Usage-Count']);
    for (const { title } of guides) expect(titles).to.include(title);
    expect(new Set(entries.map(({ path, title }) => path + title)).size).to.equal(entries.length);
  });
});

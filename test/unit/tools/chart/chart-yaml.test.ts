import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { specSchema } from '../../../../crds/browser-pool.ts';
import { chartMetadata, poolExample } from '../../../../tools/chart/chart-yaml.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');
const MANIFEST = JSON.parse(read('package.json'));
const ICON = '<svg xmlns="http://www.w3.org/2000/svg"/>';

describe('Chart.yaml', () => {
  it('contains the icon of the product', () => {
    const { icon } = parse(read('charts/pressroom/Chart.yaml'));
    const [, content] = /^data:image\/svg\+xml;base64,(.+)$/.exec(icon)!;
    expect(Buffer.from(content!, 'base64').toString()).to.equal(
      read('dashboard/parts/icon.svg').trim(),
    );
  });

  it('names the license and the authors as package.json and NOTICE do', () => {
    const { annotations, maintainers } = parse(read('charts/pressroom/Chart.yaml'));
    expect(annotations['artifacthub.io/license']).to.equal(MANIFEST.license);
    expect(maintainers).to.deep.equal([{ name: 'The Pressroom authors' }]);
    expect(read('NOTICE')).to.include('The Pressroom authors');
  });

  it('has home, sources and links once package.json has their URLs', () => {
    const urls = {
      homepage: 'https://a.example',
      repository: { url: 'https://b.example' },
      bugs: { url: 'https://c.example' },
    };
    const { home, sources, annotations } = chartMetadata({ ...MANIFEST, ...urls }, ICON);
    expect({ home, sources }).to.deep.equal({
      home: 'https://a.example',
      sources: ['https://b.example'],
    });
    expect(parse(annotations['artifacthub.io/links']!)).to.deep.equal([
      { name: 'Documentation', url: 'https://a.example' },
      { name: 'Source', url: 'https://b.example' },
      { name: 'Support', url: 'https://c.example' },
    ]);
    const { homepage: _h, repository: _r, bugs: _b, ...without } = MANIFEST;
    const bare = chartMetadata(without, ICON);
    expect(bare).not.to.have.any.keys('home', 'sources');
    expect(bare.annotations).not.to.have.property('artifacthub.io/links');
  });

  it('has changes of its own version only', () => {
    expect(() => chartMetadata({ ...MANIFEST, version: '9.9.9' }, ICON)).to.throw(/9\.9\.9/);
  });

  it('has an example of a pool that is valid', () => {
    const { annotations } = parse(read('charts/pressroom/Chart.yaml'));
    const [example] = parse(annotations['artifacthub.io/crdsExamples']);
    expect(example).to.deep.equal(poolExample(MANIFEST.version));
    specSchema.parse(example.spec);
  });
});

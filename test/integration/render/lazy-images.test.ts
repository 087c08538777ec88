// @proves lazy_load_images

import { expect } from 'chai';
import { type AdditionsFixture, additionsFixture } from '../../support/additions-fixture.ts';
import { html, type Installation } from '../../support/installation.ts';
import { pdfText, pdfWords } from '../../support/pdf.ts';
import { startTogether } from '../../support/together.ts';

describe('lazy_load_images', () => {
  let fixture: AdditionsFixture;
  let pressroom: Installation;
  let base: string;

  before(async () => {
    fixture = await additionsFixture();
    ({ pressroom, base } = fixture);
  });
  after(() => fixture.close());
  beforeEach(() => {
    fixture.web.requests.length = 0;
  });

  const lazy = (body: object) => pressroom.pdf({ lazy_load_images: true, ...body });
  // It waits for 10 s, meanwhile the other tests run in the other slot.
  const endless = startTogether(['/never.css'], async image => {
    const script = `onload = () => { document.body.append(new Image()); document.images[0].src = "${image}" }`;
    return lazy({ html: html(`<base href="${base}/"><p>TOP</p><script>${script}</script>`) });
  });
  const requestedPaths = () => fixture.web.requests.map(({ url }) => url);
  const gap = '<div style="height:4000px"></div>';
  const note = (name: string) => `onload="document.body.append('${name}')"`;

  it('loads images and frames with loading=lazy', async () => {
    const page = html(
      `${gap}<img loading="LAZY" src="${base}/slow.svg" ${note('IMAGE')}>${gap}<iframe loading="lazy" src="${base}/" ${note('FRAME')}></iframe>`,
    );
    expect(await pdfText(await lazy({ html: page })))
      .to.include('IMAGE')
      .and.to.include('FRAME');
  });

  it('does not load images observed by scripts when the option is off', async () => {
    await pressroom.pdf({
      html: html(`${gap}${gap}<img loading="lazy" src="${base}/slow.svg">`),
      wait_delay: '300ms',
    });
    // Printing loads images with loading=lazy itself, but does not trigger an observer.
    await pressroom.pdf({
      html: html(`${gap}${gap}${watcher}<img data-src="${base}/square.svg">`),
      wait_delay: '300ms',
    });
    expect(requestedPaths()).to.not.include('/square.svg');
  });

  const watcher = `<script>
    onload = () => {
      const observer = new IntersectionObserver(entries => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) { observer.unobserve(target); target.src = target.dataset.src }
      });
      for (const image of document.querySelectorAll('[data-src]')) observer.observe(image);
    };
  </script>`;
  const watched = (name: string) =>
    `<img width="50" height="50" data-src="${base}/slow.svg?${name}" ${note(name)}>`;

  it('loads images that scripts load when they come into view', async () => {
    const page = html(
      `${watcher}${gap}${watched('FIRST')}${gap}${watched('MIDDLE')}${gap}${watched('LAST')}`,
    );
    expect(await pdfText(await lazy({ html: page })))
      .to.include('FIRST')
      .and.to.include('MIDDLE')
      .and.to.include('LAST');
  });

  it('shows what scripts show when scrolling has stopped for a moment', async () => {
    const debounced = `<script>
      let timer;
      addEventListener('scroll', () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          for (const hidden of document.querySelectorAll('p[hidden]')) {
            const { top } = hidden.previousElementSibling.getBoundingClientRect();
            if (top > -innerHeight && top < innerHeight) hidden.hidden = false;
          }
        }, 100);
      });
    </script>`;
    const section = (name: string) => `${gap}<p hidden>${name}</p>`;
    const page = html(
      `<style>div { break-inside: auto }</style>${['ONE', 'TWO', 'THREE', 'FOUR'].map(section).join('')}${gap}${debounced}`,
    );
    const words = await pdfText(await lazy({ html: page }));
    for (const name of ['ONE', 'TWO', 'THREE', 'FOUR']) expect(words).to.include(name);
  });

  it('loads images in scrollable boxes and with smooth scrolling', async () => {
    const inner = `<div style="height:300px;overflow:auto">${gap}${watched('INNER')}</div>`;
    const page = html(
      `${watcher}${gap}${inner}${gap}${watched('OUTER')}`,
      '<style>* { scroll-behavior: smooth }</style>',
    );
    expect(await pdfText(await lazy({ html: page })))
      .to.include('INNER')
      .and.to.include('OUTER');
  });

  it('loads images in shadow trees', async () => {
    const script = `const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
      root.innerHTML = '<img loading=lazy src="${base}/slow.svg">';
      root.firstChild.onload = () => document.body.append('SHADOW')`;
    expect(
      await pdfText(await lazy({ html: html(`${gap}${gap}<script>${script}</script>`) })),
    ).to.include('SHADOW');
  });

  it('scrolls back to the top', async () => {
    const page = html(
      `<p>TOP</p>${gap}<script>addEventListener('scroll', () => { window.seen = true })</script>`,
    );
    const pdf = await lazy({ html: page, wait_for_expression: 'window.seen && scrollY === 0' });
    expect((await pdfWords(pdf)).find(word => word.text === 'TOP')).to.include({ page: 1 });
  });

  it('stops on a page that grows without end', async () => {
    const grow =
      'addEventListener("scroll", () => document.body.append(Object.assign(document.createElement("div"), { style: "height:3000px" })))';
    const page = html(
      `<p>TOP</p>${gap}<script>${grow}</script>`,
      '<style>@media print { div { display: none } }</style>',
    );
    expect(
      await pdfText(
        await lazy({
          html: page,
          emulate_media: 'screen',
          wait_for_expression: '!(document.querySelectorAll("div").forEach(d => d.remove()))',
        }),
      ),
    ).to.include('TOP');
  });

  it('stops waiting for an image that never loads', async () => {
    expect(await pdfText(await endless('/never.css'))).to.include('TOP');
  });
});

// A cheap page with a PDF of any size: a tiny JPEG, which Chrome copies unchanged, padded with
// comments.

/** Comments of 64 KiB, the largest in a JPEG. */
const COMMENTS_PER_MIB = 16;

/** A request for a PDF slightly larger than this many MiB, for each printed copy. */
export const largePdf = (mib: number) => ({
  html: `<img style="width:1in;height:1in"><script>
(async () => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 8;
  const jpeg = new Uint8Array(await (await new Promise(done => canvas.toBlob(done, 'image/jpeg'))).arrayBuffer());
  const comment = new Uint8Array(65537);
  comment.set([0xff, 0xfe, 0xff, 0xff]);
  const afterJfif = 20;
  const image = document.querySelector('img');
  image.src = URL.createObjectURL(
    new Blob([jpeg.subarray(0, afterJfif), ...Array(${mib * COMMENTS_PER_MIB}).fill(comment), jpeg.subarray(afterJfif)]),
  );
  await image.decode();
  window.done = true;
})();
</script>`,
  wait_for_expression: 'window.done',
});

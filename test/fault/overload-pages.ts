// A page whose PDF is as large as wanted though it costs Chrome next to nothing: a tiny JPEG, which
// Chrome copies as it is, filled up with comments.

/** Comments of 64 KiB: the largest that a JPEG's marker can announce. */
const COMMENTS_PER_MIB = 16;

/** A request for a PDF a little over so many MiB; every copy that is printed carries them again. */
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

// A page whose PDF cannot be compressed.

/** A PDF over 64 KiB, which is stored in chunks. */
export const NOISE = `<canvas id="c" width="300" height="300"></canvas><script>
  const context = c.getContext('2d');
  const image = context.createImageData(300, 300);
  for (let at = 0; at < image.data.length; at++)
    image.data[at] = at % 4 === 3 ? 255 : Math.random() * 256;
  context.putImageData(image, 0, 0);
</script>`;

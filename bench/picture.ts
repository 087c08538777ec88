// Generates PNG images (https://www.w3.org/TR/png/): overlaid waves with noise, so that they
// compress like photos.
import { crc32, deflateSync } from 'node:zlib';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** An RGB image with 8 bits per channel; `colour` returns the channels of a pixel. */
export function png(
  width: number,
  height: number,
  colour: (x: number, y: number) => readonly [number, number, number],
): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3)); // each row begins with its filter: none
  for (let y = 0, at = 0; y < height; y++) {
    at += 1;
    for (let x = 0; x < width; x++) for (const channel of colour(x, y)) rows[at++] = channel;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const [WIDTH, HEIGHT] = [480, 240];

/** Returns a different image for each number. */
export function landscape(number: number): Buffer {
  return png(WIDTH, HEIGHT, (x, y) => {
    const hill = Math.sin(x / (31 + number * 3)) + Math.sin(x / 17 + number) / 2;
    const above = y < HEIGHT / 2 - hill * 30;
    const grain = (x * 7 + y * 13 + ((x * y) % 11)) % 5;
    const shade = Math.round((y / HEIGHT) * 90) + grain;
    return above
      ? [150 + shade, 190 + (shade >> 1), 235]
      : [40 + shade, 110 + (shade >> 1), 60 + number * 9];
  });
}

// Frame rules that make a mongod report an older version.

/** A copy with `value` written as the number behind `field`. */
function withNumber(frame: Buffer, field: string, value: number): Buffer {
  const copy = Buffer.from(frame);
  copy.writeInt32LE(value, copy.indexOf(`${field}\0`) + field.length + 1);
  return copy;
}

/** The response to `hello` of a server before 4.4. */
export const asWireVersion8 = (frame: Buffer): Buffer => withNumber(frame, 'maxWireVersion', 8);

/** The response to buildInfo with major version 5 and the same length. */
export function asMongoDb5(frame: Buffer): Buffer {
  const copy = Buffer.from(frame);
  // The first number of the array stands behind its type (a whole number) and its name `0`.
  const first = copy.indexOf('\x100\0', copy.indexOf('versionArray\0'), 'latin1');
  copy.writeInt32LE(5, first + 3);
  const version = '\x02version\0';
  copy.write('5', copy.indexOf(version, 0, 'latin1') + version.length + 4, 'latin1');
  return copy;
}

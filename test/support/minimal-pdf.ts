// A minimal one-page PDF that parses like one of Chrome, for tests that ignore the content.

/** `bytes`: the minimum length of the PDF. */
export function minimalPdf(bytes = 0): string {
  const objects = [
    '<</Type /Catalog /Pages 2 0 R>>',
    '<</Type /Pages /Count 1 /Kids [3 0 R]>>',
    '<</Type /Page /Parent 2 0 R>>',
  ];
  const write = (paddingBytes: number) => {
    let text = `%PDF-1.4\n${paddingBytes > 0 ? `%${' '.repeat(paddingBytes - 1)}` : ''}\n`;
    const offsets = objects.map((object, index) => {
      const at = text.length;
      text += `${index + 1} 0 obj\n${object}\nendobj\n`;
      return `${String(at).padStart(10, '0')} 00000 n \n`;
    });
    const table = String(text.length).padStart(10, '0');
    return `${text}xref\n0 4\n0000000000 65535 f \n${offsets.join('')}trailer\n<</Size 4 /Root 1 0 R>>\nstartxref\n${table}\n%%EOF`;
  };
  return write(Math.max(0, bytes - write(0).length));
}

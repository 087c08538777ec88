// The least that reads as a PDF of Chrome's with one page, for what is not about what a PDF shows.

/** `bytes`: how long it is to be, if longer than it must be. */
export function minimalPdf(bytes = 0): string {
  const objects = [
    '<</Type /Catalog /Pages 2 0 R>>',
    '<</Type /Pages /Count 1 /Kids [3 0 R]>>',
    '<</Type /Page /Parent 2 0 R>>',
  ];
  const write = (filling: number) => {
    let text = `%PDF-1.4\n${filling > 0 ? `%${' '.repeat(filling - 1)}` : ''}\n`;
    const places = objects.map((object, index) => {
      const at = text.length;
      text += `${index + 1} 0 obj\n${object}\nendobj\n`;
      return `${String(at).padStart(10, '0')} 00000 n \n`;
    });
    const table = String(text.length).padStart(10, '0');
    return `${text}xref\n0 4\n0000000000 65535 f \n${places.join('')}trailer\n<</Size 4 /Root 1 0 R>>\nstartxref\n${table}\n%%EOF`;
  };
  return write(Math.max(0, bytes - write(0).length));
}
